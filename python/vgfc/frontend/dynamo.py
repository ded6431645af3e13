"""`torch.compile(model, backend="vgf")`: graphs become VGF programs, what cannot be compiled runs in eager PyTorch.

Dynamo's graphs come here through AOTAutograd, as pure graphs of ATen operators: writes to inputs and results that are views
of inputs are PyTorch's business and stay right. Where there are none, the program is made from Dynamo's own graph, whose
operators are larger (an attention, an upsampling). A program is made at the first call with new input shapes. Weights are
constants of the program; when one changes, the program is made again. Calls that record gradients run in eager PyTorch.

Options, as in `torch.compile(model, backend="vgf", options={"device": "reference"})`:

    device          "auto", "vulkan" or "reference", as in `Program.run`; default "auto"
    fallback        False: raise CompileError instead of running in eager what cannot be compiled; default True
    check_weights   False: trust that weights only change in ways that PyTorch counts (not through `.data`); default True
    programs        a list that receives every `vgfc.Program` that is made
"""

from __future__ import annotations

import operator
import warnings
import zlib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import torch
from torch._dynamo.backends.common import aot_autograd
from torch._functorch._aot_autograd.schemas import OutputType
from torch._functorch._aot_autograd.utils import make_boxed_func
from torch._guards import TracingContext
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx import Graph, GraphModule, Interpreter, Node
from torch.fx.passes.fake_tensor_prop import FakeTensorProp
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.operator_support import OperatorSupportBase

from vgfc.compiler import compile as compile_model
from vgfc.diagnostics import CompileError
from vgfc.program import DEVICES, Program

Run = Callable[[Sequence[Any]], Any]  # from a graph's arguments to its results: a list, or the one that it returns bare


@dataclass(frozen=True)
class Options:
    """See the module's description."""

    device: str = "auto"
    fallback: bool = True
    check_weights: bool = True
    programs: list[Program] = field(default_factory=list)

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Options:
        """The options that a user gave; raises CompileError for an unknown one or an unknown device."""
        known = cls.__dataclass_fields__
        for name in given:
            if name not in known:
                raise CompileError(f"backend vgf has no option '{name}'; its options are: {', '.join(known)}")
        options = cls(**given)
        if options.device not in DEVICES:
            raise CompileError(f"expected a device of {', '.join(DEVICES)}, found '{options.device}'")
        return options


def vgf_backend(
    graph_module: GraphModule,
    example_inputs: Sequence[Any],
    *,
    mode: str | None = None,
    options: Mapping[str, Any] | None = None,
) -> Callable[..., Any]:
    """The backend that torch.compile finds by the name "vgf"; `mode` may only be the default one."""
    if mode not in (None, "default"):
        raise CompileError(f"backend vgf has no mode '{mode}'")
    chosen = Options.of(options or {})

    def compile_graph(graph: GraphModule, inputs: Sequence[Any]) -> Callable[..., Any]:
        context = TracingContext.try_get()
        metadata = context.fw_metadata if context is not None else None
        static = set(metadata.static_input_indices) if metadata is not None else set()
        is_static = [index in static for index in range(len(inputs))]
        larger = graph_module if metadata is not None and is_interchangeable(graph_module, inputs, metadata) else None
        return _Region(graph, is_static, chosen, splits=True, larger=larger)

    def keep_eager(graph: GraphModule, inputs: Sequence[Any]) -> Callable[..., Any]:
        return make_boxed_func(graph)

    def keep_forward_eager(graph: GraphModule, inputs: Sequence[Any]) -> Callable[..., Any]:
        if not chosen.fallback:
            raise CompileError("the graph records gradients, which a VGF cannot: call it under torch.no_grad()")
        warnings.warn("backend vgf: gradients are recorded, running in eager (torch.no_grad() avoids it)", stacklevel=2)
        return make_boxed_func(graph)

    backend: Callable[..., Any] = aot_autograd(
        fw_compiler=keep_forward_eager, bw_compiler=keep_eager, inference_compiler=compile_graph
    )
    compiled: Callable[..., Any] = backend(graph_module, example_inputs)
    return compiled


def is_interchangeable(dynamo_graph: GraphModule, inputs: Sequence[Any], metadata: Any) -> bool:
    """Whether Dynamo's graph takes and gives what AOTAutograd's does: the same inputs, none written to, all results new."""
    if metadata.mutated_inp_runtime_indices or metadata.num_intermediate_bases:
        return False
    if any(info.output_type is not OutputType.non_alias for info in metadata.output_info):
        return False
    examples = [node.meta.get("example_value") for node in dynamo_graph.graph.nodes if node.op == "placeholder"]
    return len(examples) == len(inputs) and all(map(_same_type, examples, inputs))


def _same_type(first: Any, second: Any) -> bool:
    if not isinstance(first, torch.Tensor) or not isinstance(second, torch.Tensor):
        return type(first) is type(second)
    return first.shape == second.shape and first.dtype == second.dtype


class _Traced(torch.nn.Module):
    """A graph as torch.export likes it: operators keep the user's source lines."""

    def __init__(self, graph_module: GraphModule) -> None:
        super().__init__()
        self.graph_module = graph_module

    def forward(self, *arguments: Any) -> Any:
        with torch.fx.traceback.preserve_node_meta():
            return Interpreter(self.graph_module).run(*arguments)


def _with_clean_dispatcher(function: Callable[..., Any], *arguments: Any) -> Any:
    """What `function` returns, called where PyTorch's dispatcher is as at the start of a program.

    Inside a compiled graph it skips the layers that torch.export traces with; that state belongs to the thread.
    """

    def call() -> Any:
        with torch.no_grad():
            return function(*arguments)

    with ThreadPoolExecutor(max_workers=1) as executor:
        return executor.submit(call).result()


@dataclass(frozen=True)
class _Specialization:
    """A region for one set of shapes and weights: what runs it, and what tells whether the weights still are those."""

    run: Run
    weights: tuple[Any, ...]


class _Region(torch.nn.Module):
    """A pure ATen graph; a program is made for every set of input shapes that it is called with.

    `larger` is a graph of larger operators that computes the same, and `splits` says whether the graph may be split.
    """

    def __init__(
        self,
        graph_module: GraphModule,
        static: Sequence[bool],
        options: Options,
        splits: bool,
        larger: GraphModule | None = None,
    ) -> None:
        super().__init__()
        self.graph_module = graph_module
        self.larger = larger
        self.static = list(static)
        self.options = options
        self.splits = splits
        self.made: dict[tuple[Any, ...], _Specialization] = {}

    def forward(self, *arguments: Any) -> Any:
        # Tensors made in inference mode have no version counter, so that nothing tells when they change.
        frozen = [
            static and isinstance(value, torch.Tensor) and not value.is_inference()
            for static, value in zip(self.static, arguments, strict=True)
        ]
        key = tuple(
            (tuple(value.shape), value.dtype, fixed) if isinstance(value, torch.Tensor) else value
            for value, fixed in zip(arguments, frozen, strict=True)
        )
        weights = tuple(self.identity(value) for value, fixed in zip(arguments, frozen, strict=True) if fixed)
        found = self.made.get(key)
        if found is None or found.weights != weights:
            found = _Specialization(_with_clean_dispatcher(self.specialize, arguments, frozen), weights)
            self.made[key] = found
        return found.run(arguments)

    def identity(self, weight: torch.Tensor) -> tuple[int, ...]:
        """What changes when the values of a weight change."""
        counted = (weight.data_ptr(), weight._version)
        if not self.options.check_weights:
            return counted
        values = weight.detach().cpu().contiguous().flatten().view(torch.uint8)
        return (*counted, zlib.crc32(values.numpy().data))

    def specialize(self, arguments: Sequence[Any], frozen: Sequence[bool]) -> Run:
        """What computes the region for these shapes and weights: a program, several with eager parts, or eager alone."""
        try:
            return compile_region(self.larger or self.graph_module, arguments, frozen, self.options)
        except CompileError as error:
            if not self.options.fallback:
                raise
            if not self.splits:
                return self.eager
            split = split_region(self.graph_module, arguments, frozen, self.options)
            parts = sum(isinstance(child, _Region) for child in split.children())
            how = f"{parts} parts of the graph run as VGF, the rest" if parts else "the graph"
            warnings.warn(f"backend vgf: {how} in eager PyTorch: {error}", stacklevel=2)
            return lambda given: split(*given)

    def eager(self, arguments: Sequence[Any]) -> Any:
        """The region's results by PyTorch."""
        return self.graph_module(*arguments)


def compile_region(
    graph_module: GraphModule, arguments: Sequence[Any], frozen: Sequence[bool], options: Options
) -> Run:
    """A function that runs the graph as one program; raises CompileError where it cannot be compiled whole.

    Results that are inputs, constants or None stay outside the program, one that is returned twice is computed once.
    """
    graph_module = with_values(graph_module, arguments)
    graph = Graph()
    copies: dict[Node, Node] = {}
    placeholders = [node for node in graph_module.graph.nodes if node.op == "placeholder"]
    kept = [
        index
        for index, node in enumerate(placeholders)
        if node.users and not frozen[index] and isinstance(arguments[index], torch.Tensor)
    ]
    weights: dict[str, torch.Tensor] = {}
    for index, node in enumerate(placeholders):
        if index in kept:
            copies[node] = graph.placeholder(node.name)
        elif isinstance(arguments[index], torch.Tensor) and node.users:
            name = f"weight_{index}"
            weights[name] = arguments[index].detach()
            copies[node] = graph.get_attr(name)
    integers = {node: value for node, value in zip(placeholders, arguments, strict=True) if node not in copies}

    def copied(node: Node) -> Any:
        return integers[node] if node in integers else copies[node]

    returned: list[Any] = []
    returns_one = False
    for node in graph_module.graph.nodes:
        if node.op == "output":
            returns_one = isinstance(node.args[0], Node)
            returned = [node.args[0]] if returns_one else list(node.args[0])
        elif node.op != "placeholder":
            copies[node] = graph.node_copy(node, copied)
    computed = list(dict.fromkeys(item for item in returned if isinstance(item, Node) and item.op != "placeholder"))
    graph.output(tuple(copies[node] for node in computed))
    holder = torch.nn.Module()
    for name, value in weights.items():
        holder.register_buffer(name, value)
    for name, value in _attributes(graph_module):
        setattr(holder, name, value)
    if not computed:
        raise CompileError("the graph computes nothing")
    # Examples of the inputs' layouts: the tensors themselves may be ones that torch.export refuses (parameters that were
    # made in inference mode).
    examples = tuple(
        torch.empty_strided(value.shape, value.stride(), dtype=value.dtype).zero_()
        for value in (arguments[index] for index in kept)
    )
    program = compile_model(_Traced(GraphModule(holder, graph)), examples)
    if any(port.state is not None for port in program.all_inputs):
        raise CompileError("the graph writes to its weights, which a program of torch.compile cannot keep")
    options.programs.append(program)
    numbers = {node: index for index, node in enumerate(placeholders)}
    positions = {node: index for index, node in enumerate(computed)}

    def run(given: Sequence[Any]) -> Any:
        found = program.run(*(given[index] for index in kept), device=options.device)
        results = found if isinstance(found, tuple) else (found,)
        tensors = [_laid_out(node, value) for node, value in zip(computed, results, strict=True)]
        all_results = [
            item
            if not isinstance(item, Node)
            else given[numbers[item]]
            if item in numbers
            else tensors[positions[item]]
            for item in returned
        ]
        return all_results[0] if returns_one else all_results

    return run


def with_values(graph_module: GraphModule, arguments: Sequence[Any]) -> GraphModule:
    """A copy of the graph whose nodes say the shapes and strides that these arguments give them, in `meta["val"]`."""
    graph = Graph()
    graph.output(graph.graph_copy(graph_module.graph, {}))
    copy = GraphModule(graph_module, graph)
    FakeTensorProp(copy, FakeTensorMode(allow_non_fake_inputs=True)).propagate(*arguments)
    return copy


def _laid_out(node: Node, result: Any) -> torch.Tensor:
    """A program's result with the strides that eager PyTorch gives it, on which a view of it may depend."""
    # A program without inputs is called with no tensor that says in which library's terms to answer.
    tensor = result if isinstance(result, torch.Tensor) else torch.as_tensor(result)
    strides = node.meta["val"].stride()
    if tensor.stride() == strides:
        return tensor
    return torch.empty_strided(tensor.shape, strides, dtype=tensor.dtype).copy_(tensor)


def _attributes(graph_module: GraphModule) -> list[tuple[str, Any]]:
    """The tensors and nested graphs that a graph refers to by name."""
    names = dict.fromkeys(node.target for node in graph_module.graph.nodes if node.op == "get_attr")
    return [(str(name), getattr(graph_module, str(name))) for name in names]


def split_region(
    graph_module: GraphModule, arguments: Sequence[Any], frozen: Sequence[bool], options: Options
) -> GraphModule:
    """The graph with every largest part that can be compiled as a `_Region` of its own; the rest stays as it is."""
    whole = with_values(graph_module, arguments)
    placeholders = [node for node in whole.graph.nodes if node.op == "placeholder"]
    weights = {node: arguments[index] for index, node in enumerate(placeholders) if frozen[index]}
    partitioner = CapabilityBasedPartitioner(whole, _Support(weights), allows_single_node_partition=True)
    split = partitioner.fuse_partitions(partitioner.propose_partitions())
    for node in split.graph.nodes:
        part = getattr(split, str(node.target)) if node.op == "call_module" else None
        if isinstance(part, GraphModule):
            static = [argument in weights for argument in node.args]
            setattr(split, str(node.target), _Region(part, static, options, splits=False))
    return split


class _Support(OperatorSupportBase):
    """An operator is supported when a graph of it alone compiles."""

    def __init__(self, weights: Mapping[Node, torch.Tensor]) -> None:
        self.weights = weights
        self.known: dict[str, bool] = {}

    def is_node_supported(self, submodules: Mapping[str, torch.nn.Module], node: Node) -> bool:
        if node.op != "call_function":
            return False
        if node.target is operator.getitem:
            source = node.args[0]
            return isinstance(source, Node) and self.is_node_supported(submodules, source)
        if not isinstance(node.target, torch._ops.OpOverload):
            return False
        key = self.key(node)
        if key not in self.known:
            self.known[key] = self.compiles(node)
        return self.known[key]

    def key(self, node: Node) -> str:
        """The operator with its operands' types; equal for operators that compile alike."""

        def describe(operand: Node) -> Any:
            value = operand.meta["val"]
            if not isinstance(value, torch.Tensor):
                return value
            return f"{value.dtype}{list(value.shape)}{'constant' if operand in self.weights else ''}"

        users = sorted(str(user.args[1]) for user in node.users if user.target is operator.getitem)
        return (
            f"{node.target}{torch.fx.node.map_arg((node.args, node.kwargs), lambda item: repr(describe(item)))}{users}"
        )

    def compiles(self, node: Node) -> bool:
        """Whether a graph of this operator alone can be compiled."""
        graph = Graph()
        copies: dict[Node, Node] = {}
        values: list[Any] = []
        frozen: list[bool] = []
        for operand in dict.fromkeys(node.all_input_nodes):
            copies[operand] = graph.placeholder(operand.name)
            value = operand.meta["val"]
            frozen.append(operand in self.weights)
            if frozen[-1]:
                value = self.weights[operand]
            elif isinstance(value, torch.Tensor):
                value = torch.zeros(value.shape, dtype=value.dtype)
            values.append(value)
        copies[node] = graph.node_copy(node, copies.__getitem__)
        parts = [user for user in node.users if user.target is operator.getitem]
        results = [graph.node_copy(part, copies.__getitem__) for part in parts]
        graph.output(tuple(results) if parts else (copies[node],))
        try:
            compile_region(GraphModule(torch.nn.Module(), graph), values, frozen, Options())
        except CompileError:
            return False
        return True
