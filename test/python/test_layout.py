"""The tree keeps its shape: imports go one way, every pass has its tests, upstream's list is the bindings' own."""

from __future__ import annotations

import ast
import json
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "python" / "vgfc"


def imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*.py") if "__pycache__" not in path.parts)


def starts(names: set[str], *prefixes: str) -> set[str]:
    return {name for name in names if any(name == prefix or name.startswith(f"{prefix}.") for prefix in prefixes)}


def test_imports_go_one_way() -> None:
    problems = []
    for path in files(PACKAGE / "planning"):
        outside = {
            name
            for name in starts(imports(path), "vgfc", "torch_mlir", "torch")
            if not name.startswith("vgfc.planning")
        }
        problems += [f"{path}: planning imports {name}" for name in outside]
    framework = [path for path in files(PACKAGE) if path.relative_to(PACKAGE).parts[0] not in ("passes", "tools")]
    for path in framework:
        problems += [
            f"{path}: the framework imports {name}" for name in starts(imports(path), "vgfc.passes", "vgfc.tools")
        ]
    for path in files(ROOT / "passes"):
        problems += [
            f"{path}: a pass imports {name}" for name in starts(imports(path), "vgfc.passes", "vgfc.tools", "torch")
        ]
        uses_manager = starts(imports(path), "torch_mlir.passmanager")
        problems += [f"{path}: only vgfc.passmanager may use MLIR's PassManager" for _ in uses_manager]
    assert not problems, "\n".join(problems)


def module_name(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def without_types(tree: ast.AST) -> ast.AST:
    """The tree without what only a type checker imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = [ast.Pass()]
    return tree


def test_no_modules_import_each_other() -> None:
    modules = {module_name(path): path for path in files(PACKAGE)}
    graph: dict[str, set[str]] = {}
    for name, path in modules.items():
        found = graph.setdefault(name, set())
        for node in ast.walk(without_types(ast.parse(path.read_text(encoding="utf-8")))):
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                inner = [f"{node.module}.{alias.name}" for alias in node.names]
                found |= {name if name in modules else node.module for name in inner}
        found &= modules.keys()
    TopologicalSorter(graph).prepare()  # raises CycleError, which names the circle


def test_every_pass_has_its_lit_files() -> None:
    problems = []
    for path in sorted((ROOT / "passes").glob("*/*.py")):
        if path.stem == "__init__" or path.stem.startswith("_"):
            continue
        name = path.stem.replace("_", "-")
        folder = ROOT / "test" / "passes" / path.parent.name
        if not (folder / f"{name}.mlir").exists():
            problems.append(f"{path.relative_to(ROOT)}: no {folder.relative_to(ROOT)}/{name}.mlir")
        says_none = "Invalid input: none" in path.read_text(encoding="utf-8")
        if (folder / f"{name}-invalid.mlir").exists() == says_none:
            problems.append(
                f"{path.relative_to(ROOT)}: wants either {name}-invalid.mlir or 'Invalid input: none, ...' in its docstring"
            )
    assert not problems, "\n".join(problems)


def test_the_list_of_upstream_passes_is_the_bindings_own() -> None:
    from vgfc.tools.list_upstream_passes import upstream_passes

    assert json.loads((PACKAGE / "upstream_passes.json").read_text(encoding="utf-8")) == upstream_passes()
