"""What a device takes: TOSA version, profiles, extensions, level, compute segments, budgets; and whether an operator fits.

A target is written as TOSA's users write it, `TOSA-1.0+INT+FP+int16`, is one of `PRESETS`, or comes from a small TOML file:

    tosa = "TOSA-1.0+INT+FP+int16"
    level = "8K"                    # or "none"; the default is 8K
    compute = true                  # whether compute segments (shaders) may be used; the default

    [limits]                        # where the device stays below its level
    max_rank = 5

    [budgets]                       # for each graph segment
    constant_bytes = 1_000_000
    session_bytes = 500_000

In a module it is upstream's `tosa.target_env` together with `vgf.target`, which holds what upstream has no place for.
"""

from __future__ import annotations

import math
import re
import tomllib
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from torch_mlir import ir

from vgfc.diagnostics import CompileError
from vgfc.files import read_bytes
from vgfc.ir import element_type, int_list, shape, shape_value
from vgfc.plugins import plugins
from vgfc.tosa_types import MAX_RANK, NO_INSTRUCTION, OPERATORS, UNTYPED, Operator, Row

PROFILES = ("INT", "FP")
# Extension to the profiles of which it needs one (TOSA 1.0.2, Profile Extensions).
EXTENSIONS: dict[str, tuple[str, ...]] = {
    "int16": ("INT",),
    "int4": ("INT",),
    "bf16": ("FP",),
    "fp8e4m3": ("FP",),
    "fp8e5m2": ("FP",),
    "fft": ("FP",),
    "variable": PROFILES,
    "controlflow": PROFILES,
    "dynamic": PROFILES,
    "doubleround": ("INT",),
    "inexactround": ("INT",),
}
BUDGETS = ("constant_bytes", "session_bytes")
ENVIRONMENT_FIELD = re.compile(r'(\w+) = (\[[^\]]*\]|"[^"]*"|\w+)')
ALIASES = {"cf": "controlflow", "var": "variable"}
VERSIONS = ("1.0",)
DEFAULT_NAME = "vgf"


@dataclass(frozen=True)
class Limits:
    """A level: the largest values a device takes (TOSA 1.0.2, Levels). Sizes count elements, as powers of two."""

    max_rank: int
    max_kernel: int
    max_stride: int
    max_scale: int
    max_log2_size: int
    max_nesting: int
    max_tensor_list_size: int


LEVELS = {
    "8K": Limits(6, 8192, 8192, 256, 31, 6, 64),
    "none": Limits(32, 2**31 - 1, 2**31 - 1, 2048, 63, 256, 256),
}


@dataclass(frozen=True)
class Target:
    """A device. Budgets are bytes for each graph segment, None for no bound; `limits` None means those of the level."""

    profiles: tuple[str, ...] = PROFILES
    extensions: tuple[str, ...] = ()
    version: str = "1.0"
    level: str = "8K"
    limits: Limits = LEVELS["8K"]
    compute: bool = True
    constant_bytes: int | None = None
    session_bytes: int | None = None

    def __str__(self) -> str:
        parts = [f"TOSA-{self.version}", *self.profiles, *self.extensions]
        return "+".join(parts if self.level == "8K" else [*parts, self.level])

    @property
    def enabled(self) -> frozenset[str]:
        """Profiles and extensions together."""
        return frozenset((*self.profiles, *self.extensions))


PRESETS: dict[str, str] = {
    # What VK_ARM_data_graph with the TOSA.001000.1 instruction set is run with here: every type of TOSA 1.0.
    DEFAULT_NAME: "TOSA-1.0+INT+FP+int16+int4+bf16+fp8e4m3+fp8e5m2+fft+doubleround+inexactround",
    "int": "TOSA-1.0+INT+int16+int4",
    "fp": "TOSA-1.0+FP",
    "mixed": "TOSA-1.0+INT+FP+int16",
}


def parse_target(text: str) -> Target:
    """The target that a preset's name (vgfc's or a package's), a `TOSA-1.0+...` text or the path of a .toml file stands for.

    Raises CompileError for anything else.
    """
    if text in PRESETS:
        return parse_target(PRESETS[text])
    if text.endswith(".toml"):
        return _from_file(text)
    head, *words = text.split("+")
    family, _, version = head.partition("-")
    if family.upper() != "TOSA" or not version:
        added = plugins("vgfc.targets")
        if text in added:
            return read_target(added[text].load())
        names = ", ".join([*PRESETS, *added])
        raise CompileError(
            f"target '{text}': expected TOSA-1.0+INT+FP+..., a preset ({names}) or the path of a .toml file"
        )
    normal = ".".join(version.split(".")[:2])
    if normal not in VERSIONS:
        raise CompileError(f"target '{text}': expected TOSA version {' or '.join(VERSIONS)}, found {version}")
    profiles: list[str] = []
    extensions: list[str] = []
    level = "8K"
    for name in words:
        known = ALIASES.get(name.lower()) or name.lower()
        if name.upper() in PROFILES:
            profiles.append(name.upper())
        elif name.upper() == "8K" or known == "none":
            level = "8K" if name.upper() == "8K" else "none"
        elif known in EXTENSIONS:
            extensions.append(known)
        else:
            raise CompileError(
                f"target '{text}': unknown profile or extension '{name}'; profiles: {', '.join(PROFILES)}; "
                f"extensions: {', '.join(EXTENSIONS)}"
            )
    return _checked(
        Target(_ordered(profiles, PROFILES), _ordered(extensions, EXTENSIONS), normal, level, LEVELS[level]), text
    )


def _ordered(names: list[str], order: Any) -> tuple[str, ...]:
    return tuple(name for name in order if name in names)


def _checked(target: Target, text: str) -> Target:
    if not target.profiles:
        raise CompileError(f"target '{text}': expected at least one profile, INT or FP")
    for name in target.extensions:
        if not set(EXTENSIONS[name]) & set(target.profiles):
            raise CompileError(f"target '{text}': extension {name} needs profile {' or '.join(EXTENSIONS[name])}")
    return target


def _from_file(path: str) -> Target:
    try:
        content = tomllib.loads(read_bytes(path).decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CompileError(f"target file '{path}': {error}") from None
    known = {"tosa": str, "level": str, "compute": bool, "limits": dict, "budgets": dict}
    for key, value in content.items():
        if key not in known:
            raise CompileError(f"target file '{path}': unknown key '{key}'; expected {', '.join(known)}")
        if not isinstance(value, known[key]):
            raise CompileError(f"target file '{path}': key '{key}' expects {known[key].__name__}, found {value!r}")
    if "tosa" not in content or content["tosa"].endswith(".toml"):
        raise CompileError(f"target file '{path}': expected tosa = \"TOSA-1.0+...\" or the name of a preset")
    target = parse_target(content["tosa"])
    level = {name.lower(): name for name in LEVELS}.get(content.get("level", target.level).lower())
    if level is None:
        raise CompileError(f"target file '{path}': unknown level '{content['level']}'; expected {' or '.join(LEVELS)}")
    limits = _numbers(path, "limits", content.get("limits", {}), tuple(field.name for field in fields(Limits)))
    budgets = _numbers(path, "budgets", content.get("budgets", {}), BUDGETS)
    return replace(
        target,
        level=level,
        limits=replace(LEVELS[level], **limits),
        compute=content.get("compute", True),
        constant_bytes=budgets.get("constant_bytes"),
        session_bytes=budgets.get("session_bytes"),
    )


def _numbers(path: str, table: str, found: dict[str, Any], known: tuple[str, ...]) -> dict[str, int]:
    for key, value in found.items():
        if key not in known:
            raise CompileError(f"target file '{path}': unknown key '{table}.{key}'; expected {', '.join(known)}")
        if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
            raise CompileError(f"target file '{path}': {table}.{key} expects a positive integer, found {value!r}")
    return found


# In a module


def attach(module: ir.Module, target: Target) -> None:
    """Write the target into the module's attributes: `vgf.target`, and `tosa.target_env` for upstream's passes.

    A target without extensions gets no `tosa.target_env`: MLIR prints an empty list there that it does not parse again.
    """
    attributes = module.operation.attributes
    with module.context:
        if target.extensions:
            attributes["tosa.target_env"] = ir.Attribute.parse(
                f'#tosa.target_env<specification_version = "{target.version}", level = "{target.level.lower()}", '
                f"profiles = [{', '.join(f'pro_{name.lower()}' for name in target.profiles)}], "
                f"extensions = [{', '.join(target.extensions)}]>"
            )
        elif "tosa.target_env" in attributes:
            del attributes["tosa.target_env"]
        number = ir.IntegerType.get_signless(64)
        entries: dict[str, ir.Attribute] = {
            "tosa": ir.StringAttr.get(str(target)),
            "compute": ir.BoolAttr.get(target.compute),
        }
        for name in BUDGETS:
            value = getattr(target, name)
            if value is not None:
                entries[name] = ir.IntegerAttr.get(number, value)
        standard = LEVELS[target.level]
        for field in fields(Limits):
            value = getattr(target.limits, field.name)
            if value != getattr(standard, field.name):
                entries[field.name] = ir.IntegerAttr.get(number, value)
        attributes["vgf.target"] = ir.DictAttr.get(entries)


def target_of(module: ir.Module) -> Target:
    """The target that a module carries in `vgf.target`, else in `tosa.target_env`, else the default one.

    Raises CompileError for attributes that no target is written as, and for two that contradict each other.
    """
    attributes = module.operation.attributes
    environment = _parse_environment(str(attributes["tosa.target_env"])) if "tosa.target_env" in attributes else None
    if "vgf.target" not in attributes:
        return environment or parse_target(DEFAULT_NAME)
    entries = {item.name: item.attr for item in ir.DictAttr(attributes["vgf.target"])}
    target = environment or parse_target(DEFAULT_NAME)
    if "tosa" in entries:
        target = parse_target(ir.StringAttr(entries.pop("tosa")).value)
    if environment is not None and str(environment) != str(target):
        raise CompileError(f"the module's vgf.target is {target}, its tosa.target_env is {environment}")
    limits: dict[str, int] = {}
    changes: dict[str, Any] = {}
    for name, value in entries.items():
        if name == "compute":
            changes["compute"] = ir.BoolAttr(value).value
        elif name in BUDGETS:
            changes[name] = ir.IntegerAttr(value).value
        elif name in {field.name for field in fields(Limits)}:
            limits[name] = ir.IntegerAttr(value).value
        else:
            raise CompileError(f"vgf.target: unknown entry '{name}'")
    return replace(target, limits=replace(target.limits, **limits), **changes)


def _parse_environment(text: str) -> Target:
    fields_found = dict(ENVIRONMENT_FIELD.findall(text))
    words = [word for key in ("profiles", "extensions") for word in re.findall(r"\w+", fields_found.get(key, ""))]
    level = fields_found.get("level", "8k").strip('"')
    version = fields_found.get("specification_version", "1.0").strip('"')
    return parse_target("+".join([f"TOSA-{version}", *(word.removeprefix("pro_") for word in words), level]))


# Is it legal


def illegal_reason(op: ir.Operation | ir.OpView, target: Target) -> str | None:
    """Why the target does not take this operation as TOSA, None when it does.

    The sentence names what was found and what the specification or the target wants; it carries no location.
    """
    operation = op.operation
    name = operation.name
    if not name.startswith("tosa."):
        return f"'{name}' is no TOSA operator"
    short = name.removeprefix("tosa.")
    if short == "yield":
        return None
    if short in UNTYPED:
        return _needs_reason(short, UNTYPED[short], target) or _untyped_reason(short, operation, target)
    operator = OPERATORS.get(short)
    if operator is None:
        return f"{short} is no operator of TOSA {target.version}"
    return (
        _shape_reason(short, operation, operator, target)
        or _type_reason(short, operation, operator, target)
        or _constant_reason(short, operation, operator, target)
        or _limit_reason(short, operation, target)
        or _rounding_reason(short, operation, target)
    )


def graph_reason(op: ir.Operation | ir.OpView, target: Target) -> str | None:
    """Why the operation cannot be in a graph segment of a VGF for this target, None when it can."""
    short = op.operation.name.removeprefix("tosa.")
    if op.operation.name.startswith("tosa.") and short in NO_INSTRUCTION:
        return f"{short} has no instruction in a VGF's graphs (TOSA.001000.1)"
    return illegal_reason(op, target)


def _needs_reason(short: str, needs: tuple[frozenset[str], ...], target: Target) -> str | None:
    if any(group <= target.enabled for group in needs):
        return None
    return f"{short} needs {Row((), needs).describe_needs()}, the target has {', '.join(sorted(target.enabled))}"


def _types(operation: ir.Operation, operator: Operator) -> tuple[str, ...] | str:
    """The element type in each column, or the sentence that says why the operands do not fit the columns."""
    found: dict[str, str] = {}
    pairs = [(operator.column_of_operand(index), value.type) for index, value in enumerate(operation.operands)]
    pairs += list(zip(operator.results, (value.type for value in operation.results), strict=True))
    if operation.name == "tosa.variable":
        pairs.append(("a", None))
    for column, kind in pairs:
        if column == "-":
            continue
        element = str(ir.TypeAttr(operation.attributes["type"]).value) if kind is None else str(element_type(kind))
        if column in ("i1", "i8"):
            if element != column:
                return f"takes {column} where {element} was found"
        elif found.setdefault(column, element) != element:
            return f"takes one element type where {found[column]} and {element} were found"
    if "acc" in operator.columns:
        found["acc"] = str(ir.TypeAttr(operation.attributes["acc_type"]).value)
    return tuple(found[column] for column in operator.columns)


def _type_reason(short: str, operation: ir.Operation, operator: Operator, target: Target) -> str | None:
    types = _types(operation, operator)
    if isinstance(types, str):
        return f"{short} {types}"
    rows = [row for row in operator.rows if row.types == types]
    if not rows:
        inputs = sorted({row.types[0] for row in operator.rows}, key=lambda name: (name[0], len(name), name))
        return f"TOSA has no {short} of {' x '.join(types)}; its inputs are {', '.join(inputs)}"
    needs = tuple(dict.fromkeys(group for row in rows for group in row.needs))
    reason = _needs_reason(f"{short} of {' x '.join(types)}", needs, target)
    return reason


def _shape_reason(short: str, operation: ir.Operation, operator: Operator, target: Target) -> str | None:
    kinds = [value.type for value in (*operation.operands, *operation.results)]
    roles = [f"operand {index}" for index in range(len(operation.operands))]
    roles += [f"result {index}" for index in range(len(operation.results))]
    bounds = list(operator.ranks)
    if operator.operands and operator.operands[-1].endswith("*"):
        bounds = [operator.ranks[0]] * len(operation.operands) + [operator.ranks[-1]] * len(operation.results)
    for index, (kind, role) in enumerate(zip(kinds, roles, strict=True)):
        if not isinstance(kind, ir.RankedTensorType):
            if isinstance(kind, ir.UnrankedTensorType):
                return f"{short}: {role} has no rank ({kind})"
            continue
        dimensions = shape(kind)
        if -1 in dimensions:
            return f"{short}: {role} has a dynamic shape ({kind})"
        low, high = bounds[index] if index < len(bounds) else (0, MAX_RANK)
        highest = target.limits.max_rank if high == MAX_RANK else high
        if not low <= len(dimensions) <= highest:
            wanted = f"{low}" if low == highest else f"{low} to {highest}"
            return f"{short}: {role} has rank {len(dimensions)} ({kind}), expected {wanted}"
        if 0 in dimensions:
            return f"{short}: {role} is empty ({kind})"
        if math.prod(dimensions) >= 1 << target.limits.max_log2_size:
            return f"{short}: {role} has {math.prod(dimensions)} elements, expected fewer than 2^{target.limits.max_log2_size}"
    return None


def _constant_reason(short: str, operation: ir.Operation, operator: Operator, target: Target) -> str | None:
    if "dynamic" in target.extensions:
        return None
    for index in operator.constants:
        owner = operation.operands[index].owner
        if isinstance(owner, ir.Block) or owner.operation.name not in ("tosa.const", "tosa.const_shape"):
            return f"{short}: operand {index} has to be a constant"
    return None


def _attribute(operation: ir.Operation, name: str) -> list[int]:
    return int_list(operation.attributes[name])


def _over(short: str, what: str, values: list[int], limit: int, limit_name: str) -> str | None:
    if max(values) > limit:
        return f"{short}: {what} {values} exceeds the level's {limit_name} of {limit}"
    return None


def _limit_reason(short: str, operation: ir.Operation, target: Target) -> str | None:
    limits = target.limits
    if short in ("avg_pool2d", "max_pool2d"):
        return (
            _over(short, "kernel", _attribute(operation, "kernel"), limits.max_kernel, "MAX_KERNEL")
            or _over(short, "pad", _attribute(operation, "pad"), limits.max_kernel, "MAX_KERNEL")
            or _over(short, "stride", _attribute(operation, "stride"), limits.max_stride, "MAX_STRIDE")
        )
    if short in ("conv2d", "conv3d", "depthwise_conv2d", "transpose_conv2d"):
        weight = list(shape(operation.operands[1]))
        kernel = weight[:2] if short == "depthwise_conv2d" else weight[1:-1]
        dilation = [1, 1] if short == "transpose_conv2d" else _attribute(operation, "dilation")
        reach = [extent * step for extent, step in zip(kernel, dilation, strict=True)]
        padding = "out_pad" if short == "transpose_conv2d" else "pad"
        return (
            _over(short, "dilation * kernel", reach, limits.max_kernel, "MAX_KERNEL")
            or _over(short, padding, _attribute(operation, padding), limits.max_kernel, "MAX_KERNEL")
            or _over(short, "stride", _attribute(operation, "stride"), limits.max_stride, "MAX_STRIDE")
        )
    if short in ("fft2d", "rfft2d"):
        return _over(short, "extent", list(shape(operation.operands[0]))[1:], limits.max_kernel, "MAX_KERNEL")
    if short == "concat":
        return _list_reason(short, len(operation.operands), target)
    if short == "resize":
        return _resize_reason(operation, target)
    return None


def _list_reason(short: str, count: int, target: Target) -> str | None:
    limit = target.limits.max_tensor_list_size
    return f"{short}: {count} tensors exceed the level's MAX_TENSOR_LIST_SIZE of {limit}" if count > limit else None


def _resize_reason(operation: ir.Operation, target: Target) -> str | None:
    """RESIZE's ERROR_IF conditions and the level's MAX_SCALE; the verifier has seen that the sizes agree."""
    scale = shape_value(operation.operands[1])
    if scale is None:
        return None
    up_y, down_y, up_x, down_x = scale
    for axis, up, down in (("y", up_y, down_y), ("x", up_x, down_x)):
        if up > target.limits.max_scale * down:
            return f"resize: scale_{axis} {up}/{down} exceeds the level's MAX_SCALE of {target.limits.max_scale}"
        if up > 1 << 11:
            return f"resize: scale_{axis}_n {up} exceeds {1 << 11}"
        if down >= 16 * up:
            return f"resize: scale_{axis} {up}/{down} is no more than 1/16"
    extents = [*shape(operation.operands[0])[1:3], *shape(operation.results[0])[1:3]]
    if max(extents) >= 16384:
        return f"resize: height and width {extents} have to stay below 16384"
    return None


def _rounding_reason(short: str, operation: ir.Operation, target: Target) -> str | None:
    if short != "rescale":
        return None
    mode = str(operation.attributes["rounding_mode"])
    for word, extension in (("DOUBLE_ROUND", "doubleround"), ("INEXACT_ROUND", "inexactround")):
        if word in mode and extension not in target.extensions:
            return f"rescale with {word} needs {extension}, the target has {', '.join(sorted(target.enabled))}"
    return None


def _untyped_reason(short: str, operation: ir.Operation, target: Target) -> str | None:
    if short == "const_shape":
        return None
    count = max(len(operation.operands) - (short == "cond_if"), len(operation.results))
    reason = _list_reason(short, count, target)
    if reason or short == "custom":
        return reason
    if _nesting(operation) >= target.limits.max_nesting:
        return f"{short}: nested {_nesting(operation)} deep, expected fewer than {target.limits.max_nesting}"
    for region in operation.regions:
        for block in region.blocks:
            for inner in list(block.operations):
                reason = illegal_reason(inner, target)
                if reason:
                    return f"{short}: inside it, {reason}"
    return None


def _nesting(operation: ir.Operation) -> int:
    depth = 0
    parent = operation.parent
    while parent is not None:
        depth += parent.operation.name in ("tosa.cond_if", "tosa.while_loop")
        parent = parent.operation.parent
    return depth


def read_target(text: str | Path | Target | None) -> Target:
    """The target that a caller of the API gave: a Target, a text for `parse_target`, a path, or None for the default."""
    if isinstance(text, Target):
        return text
    return parse_target(DEFAULT_NAME if text is None else str(text))
