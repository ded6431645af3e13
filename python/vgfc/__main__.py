"""`python -m vgfc --cmakedir` prints where CMake finds vgfc."""

from __future__ import annotations

import argparse
from pathlib import Path

import vgfc


def main() -> None:
    """Print what is asked for."""
    parser = argparse.ArgumentParser("vgfc", description=(vgfc.__doc__ or "").split("\n")[0])
    choice = parser.add_mutually_exclusive_group(required=True)
    choice.add_argument("--cmakedir", action="store_true", help="print the folder to give CMake as vgfc_DIR")
    choice.add_argument("--version", action="version", version=vgfc.__version__)
    parser.parse_args()
    print(Path(vgfc.__file__).parent / "cmake")


if __name__ == "__main__":
    main()
