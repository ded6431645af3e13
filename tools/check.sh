#!/usr/bin/env bash
# Everything that guards the project: format, lint, types, generated files, lit, pytest with the runs on Vulkan.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
bash "$root/tools/setup.sh"
cd "$root"
exec .venv/bin/python tools/check.py "$@"
