"""Starting a pass: its file and its lit file from a template, in the project around the current folder.

In vgfc's own checkout the files go to passes/<stage>/ and test/passes/<stage>/, where they are found by their names. In any
other project they go to the package and to test/, and the project's pyproject.toml has to name the pass.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

from vgfc.diagnostics import CompileError
from vgfc.files import write_atomically
from vgfc.passmanager import find_pass, upstream_pass_names

NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
TEMPLATES = Path(__file__).parent / "templates"


@dataclass(frozen=True)
class NewPass:
    """The files that were written, and the line for pyproject.toml (empty where none is needed)."""

    name: str
    source: Path
    test: Path
    entry_point: str


def create_pass(text: str, start: Path, stage: str = "simplify") -> NewPass:
    """Write the files of a pass `vgf-<text>` (the prefix may be given) into the project that `start` lies in.

    Raises CompileError for a name that is taken or no pass name, an unknown stage, and where there is no project.
    """
    name = text.removeprefix("vgf-")
    if NAME.fullmatch(name) is None:
        raise CompileError(f"--new-pass: expected a name like my-pass, found '{text}'")
    if find_pass(f"vgf-{name}") is not None or f"vgf-{name}" in upstream_pass_names():
        raise CompileError(f"--new-pass: a pass named 'vgf-{name}' exists already")
    root = _project_root(start)
    project = _project_name(root)
    stem = name.replace("-", "_")
    if project == "vgfc":
        stages = sorted(path.parent.name for path in (root / "passes").glob("*/__init__.py"))
        if stage not in stages:
            raise CompileError(f"--stage: no stage is named '{stage}'; there are: {', '.join(stages)}")
        source = root / "passes" / stage / f"{stem}.py"
        test = root / "test" / "passes" / stage / f"{name}.mlir"
        entry_point = ""
    else:
        package = _package_folder(root, project)
        source = package / f"{stem}.py"
        test = root / "test" / f"{name}.mlir"
        entry_point = f'vgf-{name} = "{package.name}.{stem}:{_class_name(name)}"'
    for path in (source, test):
        if path.exists():
            raise CompileError(f"--new-pass: '{path}' exists already")
    for path, template in ((source, "new_pass.py.txt"), (test, "new_pass.mlir.txt")):
        content = (TEMPLATES / template).read_text(encoding="utf-8")
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, content.replace("@name@", name).replace("@Class@", _class_name(name)).encode())
    if project == "vgfc":
        subprocess.run([sys.executable, str(root / "tools" / "generate_docs.py")], check=True)
    return NewPass(f"vgf-{name}", source, test, entry_point)


def _class_name(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("-"))


def _project_root(start: Path) -> Path:
    for folder in (start, *start.parents):
        if (folder / "pyproject.toml").is_file():
            return folder
    raise CompileError(f"--new-pass: expected a pyproject.toml in '{start}' or a folder above it, found none")


def _project_name(root: Path) -> str:
    try:
        content = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
        return str(content["project"]["name"])
    except (tomllib.TOMLDecodeError, KeyError) as error:
        raise CompileError(f"'{root / 'pyproject.toml'}': expected a project with a name ({error})") from None


def _package_folder(root: Path, project: str) -> Path:
    name = re.sub(r"[-.]+", "_", project)
    for folder in (root / "src" / name, root / "python" / name, root / name):
        if (folder / "__init__.py").is_file():
            return folder
    raise CompileError(f"--new-pass: expected the package '{name}' in '{root}' or its src folder, found none")
