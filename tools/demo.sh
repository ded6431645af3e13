#!/usr/bin/env bash
# MobileNetV2 at 224 pixels, from PyTorch to a VGF file that runs, compared with PyTorch; sets itself up.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
bash "$root/tools/setup.sh"
cd "$root"
exec .venv/bin/python -m benchmarks.demo "$@"
