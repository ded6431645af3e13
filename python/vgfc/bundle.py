"""A program with host segments on disk: a folder with a manifest, VGF files and host modules. docs/bundle.md has the format."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from vgfc.diagnostics import CompileError
from vgfc.emit.constants import with_constants
from vgfc.files import Piece, read_bytes, write_atomically
from vgfc.interface import Port
from vgfc.vgf_file import decode

FORMAT = "vgfc-bundle"
VERSION = 1
MANIFEST = "manifest.json"
Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Value:
    """A tensor that parts pass on: shape, and element type by its numpy name."""

    shape: tuple[int, ...]
    dtype: str


@dataclass(frozen=True)
class BuiltPart:
    """One part: `kind` is "vgf" (content: a VGF file) or "host" (content: MLIR bytecode with one public function).

    `pieces` are the content in the order in which it is written; a program's weights are in memory once, as constants of
    its module, and `content` copies them when it is first asked for.

    `inputs` and `outputs` are numbers of values, in the file's or function's order. `push_constants` holds, by the name of
    a compute segment's module, the bytes that a VGF file has no place for. `reasons` says, for a host part, what it runs
    and why.
    """

    kind: str
    pieces: tuple[Piece, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    push_constants: dict[str, bytes] = field(default_factory=dict)
    reasons: tuple[str, ...] = ()

    @cached_property
    def content(self) -> bytes:
        """The bytes of the file."""
        return self.pieces[0] if len(self.pieces) == 1 and isinstance(self.pieces[0], bytes) else b"".join(self.pieces)

    @property
    def tables(self) -> bytes:
        """A VGF file without the values of its constants: what it says of them stands in its resource table."""
        return b"".join(with_constants(bytes(self.pieces[0]), []))

    @property
    def size_bytes(self) -> int:
        """The bytes of the file, counted."""
        return sum(len(piece) for piece in self.pieces)


@dataclass(frozen=True)
class Bundle:
    """Parts in the order in which they run, all values, and what the model takes and gives as numbers of values."""

    values: tuple[Value, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    parts: tuple[BuiltPart, ...]
    input_ports: tuple[Port, ...]
    output_ports: tuple[Port, ...]

    @property
    def is_one_file(self) -> bool:
        """Whether a single VGF file holds the whole program."""
        return len(self.parts) == 1 and self.parts[0].kind == "vgf" and not self.parts[0].push_constants


def of_vgf(content: bytes) -> Bundle:
    """A VGF file as a bundle of one part; its ports are those of the file. Raises CompileError for a damaged file."""
    file = decode(content)
    slots = (*file.inputs, *file.outputs)
    values = tuple(Value(file.resources[slot.resource].shape, file.resources[slot.resource].dtype) for slot in slots)
    numbers = tuple(range(len(slots)))
    inputs, outputs = numbers[: len(file.inputs)], numbers[len(file.inputs) :]

    def ports(word: str, names: Sequence[str], own: tuple[int, ...]) -> tuple[Port, ...]:
        return tuple(
            Port(
                name=names[index] if index < len(names) else f"{word}_{index}",
                shape=values[number].shape,
                dtype=values[number].dtype,
                file_shape=values[number].shape,
                file_dtype=values[number].dtype,
            )
            for index, number in enumerate(own)
        )

    input_ports, output_ports = ports("input", file.input_names, inputs), ports("output", file.output_names, outputs)
    return Bundle(values, inputs, outputs, (BuiltPart("vgf", (content,), inputs, outputs),), input_ports, output_ports)


def load(path: str | os.PathLike[str]) -> Bundle:
    """The program at a path: a VGF file or a bundle's folder; raises CompileError for anything else."""
    return read(path) if Path(path).is_dir() else of_vgf(read_bytes(path))


def _port_entry(port: Port, value: int) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": port.name, "value": value, "shape": list(port.shape), "dtype": port.dtype}
    if port.scale is not None:
        entry["scale"], entry["zero_point"] = port.scale, port.zero_point
    if port.state is not None:
        entry["state"] = port.state
    return entry


def manifest_of(bundle: Bundle) -> dict[str, Any]:
    """The manifest as the object that is written as JSON."""
    names = [f"part_{number}.{'vgf' if part.kind == 'vgf' else 'mlirbc'}" for number, part in enumerate(bundle.parts)]
    initial = [port for port in bundle.input_ports if port.initial is not None]
    return {
        "format": FORMAT,
        "version": VERSION,
        "values": [{"shape": list(value.shape), "dtype": value.dtype} for value in bundle.values],
        "inputs": [_port_entry(port, value) for port, value in zip(bundle.input_ports, bundle.inputs, strict=True)],
        "outputs": [_port_entry(port, value) for port, value in zip(bundle.output_ports, bundle.outputs, strict=True)],
        "initial_states": {port.name: f"{port.name}.npy" for port in initial},
        "parts": [
            {
                "kind": part.kind,
                "file": name,
                "inputs": list(part.inputs),
                "outputs": list(part.outputs),
                **({"push_constants": _hex(part.push_constants)} if part.push_constants else {}),
                **({"reasons": list(part.reasons)} if part.reasons else {}),
            }
            for name, part in zip(names, bundle.parts, strict=True)
        ],
    }


def _hex(push_constants: dict[str, bytes]) -> dict[str, str]:
    return {name: values.hex() for name, values in push_constants.items()}


def write(bundle: Bundle, path: str | os.PathLike[str]) -> None:
    """Write the folder; an earlier bundle there is replaced, any other folder or file is an error.

    Raises CompileError when it cannot be written; what was there before is then still there.
    """
    import io

    target = Path(path)
    if target.exists() and not (target / MANIFEST).is_file():
        raise CompileError(f"cannot write '{path}': it exists and is no bundle, expected a new folder or a bundle")
    fresh = target.with_name(f".{target.name}.{os.getpid()}.new")
    manifest = manifest_of(bundle)
    try:
        fresh.mkdir(parents=True)
        for part, entry in zip(bundle.parts, manifest["parts"], strict=True):
            write_atomically(fresh / entry["file"], *part.pieces)
        for port in bundle.input_ports:
            if port.initial is not None:
                stream = io.BytesIO()
                np.save(stream, port.initial)
                write_atomically(fresh / f"{port.name}.npy", stream.getvalue())
        write_atomically(fresh / MANIFEST, (json.dumps(manifest, indent=2) + "\n").encode())
        if target.exists():
            old = target.with_name(f".{target.name}.{os.getpid()}.old")
            target.rename(old)
            fresh.rename(target)
            shutil.rmtree(old)
        else:
            fresh.rename(target)
    except OSError as error:
        raise CompileError(f"cannot write '{path}': {(error.strerror or str(error)).lower()}") from None
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def read(path: str | os.PathLike[str]) -> Bundle:
    """The bundle in a folder; raises CompileError for a folder that holds none, or a damaged one."""
    folder = Path(path)
    try:
        manifest = json.loads(read_bytes(folder / MANIFEST))
    except ValueError as error:
        raise CompileError(f"'{folder / MANIFEST}': expected JSON ({error})") from None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise CompileError(f"'{folder / MANIFEST}': expected a manifest with format '{FORMAT}'")
    if manifest.get("version") != VERSION:
        raise CompileError(f"'{folder / MANIFEST}': expected version {VERSION}, found {manifest.get('version')}")
    try:
        return _from_manifest(folder, manifest)
    except (KeyError, TypeError, IndexError) as error:
        raise CompileError(f"'{folder / MANIFEST}': missing or misplaced entry {error}") from None


def _from_manifest(folder: Path, manifest: dict[str, Any]) -> Bundle:
    values = tuple(Value(tuple(entry["shape"]), entry["dtype"]) for entry in manifest["values"])
    initial = {name: _load(folder / file) for name, file in manifest["initial_states"].items()}

    def ports(entries: Sequence[dict[str, Any]]) -> tuple[Port, ...]:
        return tuple(
            Port(
                name=entry["name"],
                shape=tuple(entry["shape"]),
                dtype=entry["dtype"],
                file_shape=values[entry["value"]].shape,
                file_dtype=values[entry["value"]].dtype,
                scale=entry.get("scale"),
                zero_point=entry.get("zero_point"),
                state=entry.get("state"),
                initial=initial.get(entry["name"]),
            )
            for entry in entries
        )

    return Bundle(
        values=values,
        inputs=tuple(entry["value"] for entry in manifest["inputs"]),
        outputs=tuple(entry["value"] for entry in manifest["outputs"]),
        parts=tuple(
            BuiltPart(
                kind=entry["kind"],
                pieces=(read_bytes(folder / entry["file"]),),
                inputs=tuple(entry["inputs"]),
                outputs=tuple(entry["outputs"]),
                push_constants={name: bytes.fromhex(text) for name, text in entry.get("push_constants", {}).items()},
                reasons=tuple(entry.get("reasons", ())),
            )
            for entry in manifest["parts"]
        ),
        input_ports=ports(manifest["inputs"]),
        output_ports=ports(manifest["outputs"]),
    )


def _load(path: Path) -> Array:
    import io

    try:
        array: Array = np.load(io.BytesIO(read_bytes(path)), allow_pickle=False)
    except ValueError as error:
        raise CompileError(f"'{path}': expected a .npy file ({error})") from None
    return array
