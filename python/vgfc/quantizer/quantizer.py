"""The PT2E quantizer for VGF: it puts Q/DQ where the compiler's integer arithmetic rounds to few bits, and nowhere else.

A tensor is quantised once, where it is made. What moves data (views, permutes, max pools, concatenations ...) carries no
Q/DQ of its own; tensors and constants that meet in a concatenation share their parameters, so that joining them is no
arithmetic. Wide accumulators are used as they are: a convolution, linear or matmul is not quantised before the clamp, the
constant factor or the residual addition that is its only reader, nor are attention scores before their softmax. A chain of
element-wise operators on one tensor is quantised at its end, since it becomes one table.
"""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Iterable
from typing import Any

import torch
from torch.fx import GraphModule, Node
from torchao.quantization.pt2e.quantizer.quantizer import (
    Q_ANNOTATION_KEY,
    DerivedQuantizationSpec,
    EdgeOrNode,
    QuantizationAnnotation,
    QuantizationSpecBase,
    Quantizer,
    SharedQuantizationSpec,
)

from vgfc.diagnostics import CompileError
from vgfc.quantizer.configuration import QuantizationConfig
from vgfc.quantizer.operators import (
    BILINEAR,
    CLAMPS,
    COMPUTE,
    CONVERSIONS,
    ELEMENTWISE,
    EMBEDDING,
    FILLS,
    JOINS,
    MATMULS,
    MOVES,
    REORDERS,
    SAME_SCALE,
    WEIGHTED,
    operator_name,
)
from vgfc.quantizer.rewrites import decompose_attention, shared_write

SOFTMAX = ("aten.softmax.int", "aten._softmax.default")
GROUPS_ARGUMENT = 6


class VgfQuantizer(Quantizer):  # type: ignore[misc]
    """Which parts of a model are quantised, and how. `None` as a configuration leaves that part in floating point.

    Where several settings name a node the most specific one holds: node name, then node target, module name (the longest
    path), module type, model inputs and outputs, and the global one last.
    """

    def __init__(self) -> None:
        self.global_config: QuantizationConfig | None = None
        self.io_config: QuantizationConfig | None = None
        self.io_is_set = False
        self.module_names: dict[str, QuantizationConfig | None] = {}
        self.module_types: dict[str, QuantizationConfig | None] = {}
        self.node_names: dict[str, QuantizationConfig | None] = {}
        self.node_targets: dict[Any, QuantizationConfig | None] = {}

    def set_global(self, config: QuantizationConfig | None) -> VgfQuantizer:
        """Quantise everything that no other setting names."""
        self.global_config = config
        return self

    def set_io(self, config: QuantizationConfig | None) -> VgfQuantizer:
        """Quantise the model's inputs and outputs with `config`."""
        self.io_config, self.io_is_set = config, True
        return self

    def set_module_name(self, module_name: str, config: QuantizationConfig | None) -> VgfQuantizer:
        """Quantise the module at this path, and the modules inside it."""
        self.module_names[module_name] = config
        return self

    def set_module_type(self, module_type: type | str, config: QuantizationConfig | None) -> VgfQuantizer:
        """Quantise the modules of a class (or of its qualified name)."""
        name = module_type if isinstance(module_type, str) else f"{module_type.__module__}.{module_type.__qualname__}"
        self.module_types[name] = config
        return self

    def set_node_name(self, node_name: str, config: QuantizationConfig | None) -> VgfQuantizer:
        """Quantise the node of this name in the exported graph."""
        self.node_names[node_name] = config
        return self

    def set_node_target(self, node_target: Any, config: QuantizationConfig | None) -> VgfQuantizer:
        """Quantise every node that calls this operator, such as torch.ops.aten.add.Tensor."""
        self.node_targets[node_target] = config
        return self

    def transform_for_annotation(self, model: GraphModule) -> GraphModule:
        """Attention becomes the matmuls and the softmax that it stands for, so that these can be quantised.

        Raises CompileError for an operator that writes to a tensor which others read, for that write would be lost.
        """
        write = shared_write(model.graph)
        if write is not None and any(self.config_of(node) is not None for node in model.graph.nodes):
            raise CompileError(
                f"'{write.name}' ({operator_name(write)}) writes to a tensor that other operators read, which quantisation "
                "takes apart; quantize with vgfc.quantize, or the program after run_decompositions({})"
            )
        return decompose_attention(model, lambda node: self.config_of(node) is not None)

    def annotate(self, model: GraphModule) -> GraphModule:
        """Write the quantisation annotations on the nodes of an exported graph; returns the same graph."""
        _Annotation(self, model).run()
        return model

    def validate(self, model: GraphModule) -> None:
        """Nothing is left to check: an annotation is only ever written on an operator that has an integer form."""

    def config_of(self, node: Node) -> QuantizationConfig | None:
        """The configuration that holds for a node."""
        if node.name in self.node_names:
            return self.node_names[node.name]
        if node.target in self.node_targets:
            return self.node_targets[node.target]
        for path, kind in reversed(_module_stack(node)):
            if path in self.module_names:
                return self.module_names[path]
            if kind in self.module_types:
                return self.module_types[kind]
        if self.io_is_set and _is_boundary(node):
            return self.io_config
        return self.global_config


def _module_stack(node: Node) -> list[tuple[str, str]]:
    """(path, qualified class name) of the modules around a node, outermost first."""
    found = []
    for path, kind in (node.meta.get("nn_module_stack") or {}).values():
        name = kind if isinstance(kind, str) else f"{kind.__module__}.{kind.__qualname__}"
        found.append((path.removeprefix("L['self']").lstrip("."), name))
    return found


def _is_boundary(node: Node) -> bool:
    return node.op == "placeholder" or any(user.op == "output" for user in node.users)


def _is_float(node: Node) -> bool:
    value = node.meta.get("val")
    return isinstance(value, torch.Tensor) and value.dtype == torch.float32


def _is_constant(node: Node) -> bool:
    """Whether the node only depends on parameters and constants of the model."""
    if node.op == "get_attr":
        return True
    if node.op != "call_function":
        return False
    inputs = [
        argument
        for argument in node.all_input_nodes
        if operator_name(node) not in FILLS or argument is not node.args[0]
    ]
    return (bool(inputs) or operator_name(node) in FILLS) and all(_is_constant(argument) for argument in inputs)


def _pads_with_number(node: Node) -> bool:
    """Whether the node pads with a constant other than 0, which the operand's codes may not have."""
    if operator_name(node) not in ("aten.pad.default", "aten.constant_pad_nd.default"):
        return False
    return any(
        value not in (None, 0) for value in (*node.args[2:], *node.kwargs.values()) if not isinstance(value, str)
    )


def _is_conversion(node: Node) -> bool:
    """Whether the node makes floating-point numbers of booleans, which codes are few enough for."""
    source = node.args[0] if operator_name(node) in CONVERSIONS and node.args else None
    return isinstance(source, Node) and source.meta["val"].dtype in (torch.bool, torch.int8)


def _only_user(node: Node) -> Node | None:
    return next(iter(node.users)) if len(node.users) == 1 else None


class _Annotation:
    """One graph being annotated. A source is a node whose own result is quantised."""

    def __init__(self, quantizer: VgfQuantizer, model: GraphModule) -> None:
        self.quantizer = quantizer
        self.nodes = list(model.graph.nodes)
        self.inputs: dict[Node, dict[Node, QuantizationSpecBase]] = {}
        self.outputs: dict[Node, QuantizationConfig] = {}
        self.leaders: dict[Node, Node] = {}
        self.roots: dict[Node, Node | None] = {}
        self.joined_constants: dict[Node, dict[Node, Node]] = {}
        self.symmetric: set[Node] = set()

    def run(self) -> None:
        for node in self.nodes:
            self.choose(node)
        for node in self.nodes:
            if node.op == "call_function":
                self.connect(node)
        for node in self.nodes:
            if node.op == "call_function" and self.config(node) is not None:
                self.quantize_bias(node)
            self.write(node)

    def config(self, node: Node) -> QuantizationConfig | None:
        return self.quantizer.config_of(node)

    def choose(self, node: Node) -> None:
        """Decide whether the node's own result is quantised."""
        config = self.config(node)
        if config is None or not _is_float(node) or _is_constant(node):
            return
        if node.op == "placeholder":
            if node.users:
                self.outputs[node] = config
            return
        name = operator_name(node)
        computes = name in COMPUTE or _pads_with_number(node) or _is_conversion(node)
        if computes and not self.is_interior(node, config):
            self.outputs[node] = config

    def is_interior(self, node: Node, config: QuantizationConfig) -> bool:
        """Whether the node's result only lives in wide integers or inside a table."""
        if node.users and all(
            self.root(user) is not None and self.root(user) is self.root(node) for user in node.users
        ):
            return all(self.config(user) is not None for user in node.users)
        user = self.reader(node)
        if user is None or self.config(user) is None:
            return False
        name, reads = operator_name(node), operator_name(user)
        if self.is_masked(node):
            return reads in SOFTMAX  # its -inf has no code
        if name in WEIGHTED | MATMULS or self.is_scaled_accumulator(node):
            if reads in CLAMPS or self.is_scaled_accumulator(user):
                return True
            if reads in ("aten.add.Tensor", "aten.sub.Tensor"):
                return _plain_sum(user)
            return reads in SOFTMAX and config.name != "int16x8"
        if name in ("aten.add.Tensor", "aten.sub.Tensor"):
            return reads in CLAMPS and user.args[0] is node
        if name in BILINEAR and reads in ("aten.add.Tensor", "aten.sub.Tensor") and _plain_sum(user):
            return self.make_symmetric(node)
        return False

    def is_masked(self, node: Node) -> bool:
        """A constant mask added to scores that have no other reader."""
        if operator_name(node) != "aten.add.Tensor":
            return False
        scores = [argument for argument in node.all_input_nodes if not _is_constant(argument)]
        if len(scores) != 1 or len(node.all_input_nodes) != 2 or len(scores[0].users) != 1:
            return False
        return operator_name(scores[0]) in MATMULS or self.is_scaled_accumulator(scores[0])

    def make_symmetric(self, node: Node) -> bool:
        """Give the tensor that a bilinear resize reads the zero point 0, so that its wide sums can be added as they are."""
        source = node.args[0]
        assert isinstance(source, Node), "a resize reads a tensor"
        if source not in self.outputs or len(source.users) != 1 or source.op == "placeholder":
            return False
        self.symmetric.add(source)
        return True

    def reader(self, node: Node) -> Node | None:
        """The one node that reads this node's result, past what only reorders axes."""
        user = _only_user(node)
        while user is not None and operator_name(user) in REORDERS:
            user = _only_user(user)
        return user if user is not None and user.op == "call_function" else None

    def is_scaled_accumulator(self, node: Node) -> bool:
        """A product of an accumulator that has no other reader with a constant."""
        if operator_name(node) not in ("aten.mul.Tensor", "aten.div.Tensor", "aten.mul.Scalar"):
            return False
        operands = [argument for argument in node.args if isinstance(argument, Node) and not _is_constant(argument)]
        if len(operands) != 1 or (operator_name(node) == "aten.div.Tensor" and operands[0] is not node.args[0]):
            return False
        return operator_name(operands[0]) in WEIGHTED | MATMULS and len(operands[0].users) == 1

    def root(self, node: Node) -> Node | None:
        """The one tensor that an element-wise node is a function of, None for any other node."""
        if node not in self.roots:
            self.roots[node] = self.find_root(node)
        return self.roots[node]

    def find_root(self, node: Node) -> Node | None:
        if node.op != "call_function" or operator_name(node) not in ELEMENTWISE or not _is_float(node):
            return None
        roots = set()
        for argument in node.all_input_nodes:
            if _is_constant(argument):
                value = argument.meta.get("val")
                if value is None or value.numel() != 1:
                    return None
                continue
            if argument.meta["val"].shape != node.meta["val"].shape:
                return None
            roots.add(self.root(argument) or argument)
        return roots.pop() if len(roots) == 1 else None

    def connect(self, node: Node) -> None:
        """Let joined tensors share parameters, and have the operands quantised that come from a floating-point part."""
        config = self.config(node)
        if config is None or not _is_float(node) or _is_constant(node):
            return
        name = operator_name(node)
        if name in JOINS | SAME_SCALE:
            joined = [argument for argument in node.all_input_nodes if _is_float(argument)]
            constants = [argument for argument in joined if name in JOINS and _is_constant(argument)]
            sources = [source for argument in joined if argument not in constants for source in self.sources(argument)]
            if name in SAME_SCALE and node in self.outputs:
                sources.append(node)
            if sources and all(source in self.outputs for source in sources):
                for source in sources[1:]:
                    self.unite(sources[0], source)
                self.joined_constants[node] = {constant: sources[0] for constant in constants}
        if name in COMPUTE:
            self.quantize_operands(node, name, config)
        if name == EMBEDDING and isinstance(node.args[0], Node) and _is_constant(node.args[0]):
            low, high = -config.activation.quant_max, config.activation.quant_max
            rows = dataclasses.replace(
                config.activation, qscheme=torch.per_tensor_symmetric, quant_min=low, quant_max=high
            )
            self.inputs.setdefault(node, {})[node.args[0]] = rows

    def quantize_operands(self, node: Node, name: str, config: QuantizationConfig) -> None:
        weight = node.args[1] if name in WEIGHTED and len(node.args) > 1 else None
        bias = node.args[2] if name in WEIGHTED and len(node.args) > 2 else None
        for argument in node.all_input_nodes:
            if not _is_float(argument) or argument is bias:
                continue
            if argument is weight:
                if _is_constant(argument):
                    self.inputs.setdefault(node, {})[argument] = _weight_spec(name, config)
            elif _is_constant(argument):
                if name in MATMULS:
                    self.inputs.setdefault(node, {})[argument] = config.activation
            elif any(self.is_floating(source) for source in self.sources(argument)):
                self.inputs.setdefault(node, {})[argument] = config.activation

    def quantize_bias(self, node: Node) -> None:
        """Give the bias of a weighted operator the accumulator's own scale, so that adding it is exact."""
        name = operator_name(node)
        if name not in WEIGHTED or len(node.args) < 3:
            return
        config = self.config(node)
        activation, weight, bias = node.args[:3]
        assert isinstance(activation, Node) and isinstance(weight, Node) and config is not None, "operators have both"
        edges = self.inputs.get(node, {})
        if config.is_qat or weight not in edges or not isinstance(bias, Node) or not _is_constant(bias):
            return
        is_grouped = len(node.args) > GROUPS_ARGUMENT and node.args[GROUPS_ARGUMENT] != 1
        if "transpose" in name and is_grouped and config.weight.ch_axis is not None:
            return  # its weight has a scale for each channel of a group, its bias one for each channel
        source: EdgeOrNode = (activation, node)
        if activation not in edges:
            source = next(iter(self.sources(activation)))
            if source not in self.outputs:
                return
        edges[bias] = DerivedQuantizationSpec(
            derived_from=[source, (weight, node)],
            derive_qparams_fn=_product_of_scales,
            dtype=torch.int32,
            quant_min=-(2**31) + 1,
            quant_max=2**31 - 1,
            qscheme=config.weight.qscheme,
            ch_axis=None if config.weight.ch_axis is None else 0,
        )

    def is_floating(self, source: Node) -> bool:
        """Whether a tensor is made in a part that stays in floating point."""
        if source in self.outputs or _is_constant(source):
            return False
        return self.config(source) is None or operator_name(source) not in COMPUTE

    def sources(self, node: Node) -> Iterable[Node]:
        """The nodes that make what this node carries, past everything that only moves data."""
        if node in self.outputs or node.op != "call_function":
            return [node]
        name = operator_name(node)
        if (name in MOVES | JOINS and not _pads_with_number(node)) or node.target is operator.getitem:
            return [source for argument in node.all_input_nodes for source in self.sources(argument)]
        return [node]

    def leader(self, node: Node) -> Node:
        while node in self.leaders:
            node = self.leaders[node]
        return node

    def unite(self, first: Node, second: Node) -> None:
        one, other = self.leader(first), self.leader(second)
        if one is other or self.outputs[one].activation != self.outputs[other].activation:
            return
        if self.nodes.index(other) < self.nodes.index(one):
            one, other = other, one
        self.leaders[other] = one

    def write(self, node: Node) -> None:
        """Put what was decided on the node."""
        for constant, source in self.joined_constants.get(node, {}).items():
            self.inputs.setdefault(node, {})[constant] = SharedQuantizationSpec(self.leader(source))
        if node not in self.outputs and node not in self.inputs:
            return
        output: QuantizationSpecBase | None = None
        if node in self.outputs:
            leader = self.leader(node)
            output = SharedQuantizationSpec(leader)
            if leader is node:
                output = self.outputs[node].activation
                if node in self.symmetric:
                    output = dataclasses.replace(output, qscheme=torch.per_tensor_symmetric)
        node.meta[Q_ANNOTATION_KEY] = QuantizationAnnotation(
            input_qspec_map=dict(self.inputs.get(node, {})), output_qspec=output, _annotated=True
        )


def _plain_sum(node: Node) -> bool:
    """Whether the addition adds its operands as they are."""
    return node.kwargs.get("alpha") in (None, 1)


def _product_of_scales(observers: list[Any]) -> tuple[torch.Tensor, torch.Tensor]:
    """The scale of a product of an activation and a weight, and a zero point of 0."""
    (activation_scale, _), (weight_scale, _) = (observer.calculate_qparams() for observer in observers)
    scale = (activation_scale.double() * weight_scale.double()).float()
    return scale, torch.zeros_like(scale, dtype=torch.int32)


def _weight_spec(name: str, config: QuantizationConfig) -> QuantizationSpecBase:
    spec = config.weight
    if spec.ch_axis is not None and "transpose" in name:
        return dataclasses.replace(spec, ch_axis=1)  # a transposed convolution's weight is input x output x kernel
    return spec
