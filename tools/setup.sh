#!/usr/bin/env bash
# Sets the checkout up: .venv with the package and every extra, and a Vulkan device where it can be installed.
# Quick when that was done before. Sourced or called by demo.sh and check.sh; needs no argument.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
venv="$root/.venv"
stamp="$venv/.vgfc-set-up"

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then sudo -n "$@"; else return 1; fi
}

apt_install() {
  command -v apt-get >/dev/null || return 1
  as_root env DEBIAN_FRONTEND=noninteractive apt-get update -qq >/dev/null 2>&1 || true
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$@" >/dev/null 2>&1
}

python=$(command -v python3.11 || command -v python3 || true)
if [ -z "$python" ] || ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
  echo "setup: Python 3.11 or newer is needed, found ${python:-none}" >&2
  exit 1
fi

wanted=$( (cat "$root/pyproject.toml" "$root/tools/setup.sh"; "$python" --version; echo "$root") | sha256sum | cut -d' ' -f1)
if [ ! -f "$stamp" ] || [ "$(cat "$stamp")" != "$wanted" ]; then
  if [ ! -x "$venv/bin/pip" ]; then
    "$python" -c 'import ensurepip' 2>/dev/null || apt_install python3-venv || {
      echo "setup: python3 -m venv does not work here (Debian: apt-get install python3-venv)" >&2
      exit 1
    }
    echo "setup: making $venv"
    "$python" -m venv "$venv"
  fi
  echo "setup: installing the package and its extras (minutes the first time)"
  "$venv/bin/pip" install --quiet --disable-pip-version-check -e "$root[torch,run,onnx,explorer,docs,test]"
  # Tests and a page of the documentation compile its networks, which need only torch; the package itself asks for ExecuTorch
  # and another torch, so it comes without what it depends on and is no extra.
  "$venv/bin/pip" install --quiet --disable-pip-version-check --no-deps ng-model-gym==0.4.0
  echo "$wanted" >"$stamp"
fi

# The loader and a CPU device. Without them everything but the Vulkan runs works; who calls says what that means.
if ! "$venv/bin/python" -c 'import ctypes; ctypes.CDLL("libvulkan.so.1")' 2>/dev/null || ! compgen -G '/*/*/vulkan/icd.d/*.json' >/dev/null && ! compgen -G '/etc/vulkan/icd.d/*.json' >/dev/null; then
  echo "setup: installing the Vulkan loader and lavapipe"
  apt_install libvulkan1 mesa-vulkan-drivers || echo "setup: they could not be installed (apt-get install libvulkan1 mesa-vulkan-drivers)"
fi

# The test of the report's page looks at it in a browser.
if ! command -v chromium >/dev/null; then
  echo "setup: installing Chromium"
  apt_install chromium || echo "setup: it could not be installed (apt-get install chromium)"
fi
