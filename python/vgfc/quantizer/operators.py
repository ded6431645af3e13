"""The operators of exported graphs, by what quantisation does with them."""

from __future__ import annotations

from torch.fx import Node


def operator_name(node: Node) -> str:
    """The operator that a node calls, as in `aten.conv2d.default`; the node's kind where it calls none."""
    return str(node.target) if node.op == "call_function" else node.op


def _aten(names: str) -> frozenset[str]:
    return frozenset(f"aten.{name}" for name in names.split())


WEIGHTED = _aten(
    "conv1d.default conv1d.padding conv2d.default conv2d.padding conv3d.default conv3d.padding convolution.default "
    "conv_transpose1d.default conv_transpose2d.input conv_transpose3d.input linear.default"
)
MATMULS = _aten("matmul.default bmm.default mm.default")
CLAMPS = _aten(
    "relu.default relu_.default relu6.default relu6_.default hardtanh.default hardtanh_.default clamp.default clamp_.default "
    "clamp_min.default clamp_max.default"
)
# What only moves data: the result is quantised because the operand is.
MOVES = _aten(
    "view.default reshape.default flatten.using_ints permute.default transpose.int t.default unsqueeze.default squeeze.default "
    "squeeze.dim squeeze.dims slice.Tensor select.int chunk.default split.Tensor split_with_sizes.default expand.default "
    "expand_as.default contiguous.default clone.default alias.default detach.default repeat.default flip.default "
    "pixel_shuffle.default pixel_unshuffle.default dropout.default dropout_.default unbind.int unflatten.int narrow.default "
    "view_as.default reshape_as.default tile.default movedim.int movedim.intlist swapaxes.default roll.default "
    "upsample_nearest2d.vec upsample_nearest2d.default max_pool2d.default adaptive_max_pool2d.default max_pool1d.default "
    "pad.default constant_pad_nd.default unfold.default index_select.default embedding.default gather.default "
    "index.Tensor repeat_interleave.self_int"
) | {"<built-in function getitem>"}
# Moves that keep each channel's scale on an axis of its own.
REORDERS = _aten(
    "permute.default transpose.int t.default contiguous.default clone.default alias.default detach.default movedim.int "
    "movedim.intlist swapaxes.default dropout.default"
)
JOINS = _aten(
    "cat.default stack.default concat.default concatenate.default hstack.default vstack.default slice_scatter.default "
    "select_scatter.default index_put.default index_put_.default scatter.src copy.default"
)
# What takes nothing but the shape from its first operand.
FILLS = _aten("fill.Tensor fill.Scalar full_like.default zeros_like.default ones_like.default")
EMBEDDING = "aten.embedding.default"
BILINEAR = _aten("upsample_bilinear2d.vec upsample_bilinear2d.default")
# What averages a tensor's neighbours: the result has the operand's range, so that it takes its parameters.
SAME_SCALE = _aten(
    "avg_pool2d.default avg_pool1d.default upsample_bilinear2d.vec upsample_bilinear2d.default amax.default amin.default "
    "maximum.default minimum.default max.other min.other max.default min.default where.self clamp.Tensor tril.default "
    "triu.default"
)
UNARY = _aten(
    "sigmoid.default sigmoid_.default tanh.default tanh_.default gelu.default silu.default silu_.default "
    "mish.default hardsigmoid.default hardswish.default hardswish_.default leaky_relu.default leaky_relu_.default "
    "elu.default elu_.default celu.default selu.default softplus.default logsigmoid.default log_sigmoid.default "
    "exp.default exp2.default expm1.default log.default log2.default log10.default log1p.default sqrt.default "
    "rsqrt.default reciprocal.default abs.default neg.default sin.default cos.default tan.default asin.default "
    "acos.default atan.default sinh.default cosh.default asinh.default acosh.default atanh.default erf.default "
    "erfc.default erfinv.default logit.default sign.default floor.default ceil.default round.default trunc.default "
    "square.default pow.Tensor_Scalar pow.Scalar remainder.Scalar "
)
UNARY |= _aten("hardshrink.default softshrink.default threshold.default")
BINARY = _aten(
    "add.Tensor add.Scalar add_.Tensor sub.Tensor sub.Scalar rsub.Scalar mul.Tensor mul.Scalar mul_.Tensor div.Tensor "
    "div.Scalar square.default"
)
ELEMENTWISE = UNARY | BINARY | CLAMPS
REDUCTIONS = _aten(
    "mean.dim mean.default sum.dim_IntList sum.default softmax.int _softmax.default log_softmax.int _log_softmax.default "
    "layer_norm.default native_layer_norm.default group_norm.default rms_norm.default adaptive_avg_pool2d.default "
    "adaptive_avg_pool1d.default cumsum.default batch_norm.default _native_batch_norm_legit_no_training.default var.dim "
    "var.correction var.default std.dim std.correction glu.default prelu.default masked_fill.Scalar where.ScalarOther "
    "where.ScalarSelf where.Scalar norm.ScalarOpt_dim linalg_vector_norm.default cosine_similarity.default "
    "instance_norm.default addmm.default avg_pool3d.default rsub.Tensor "
    "einsum.default kron.default cross.default linalg_cross.default cdist.default logsumexp.default logaddexp.default "
    "mse_loss.default cross_entropy_loss.default xlogy.Tensor upsample_linear1d.vec upsample_trilinear3d.vec col2im.default "
    "im2col.default diag_embed.default "
)
# What makes numbers of booleans and bytes.
CONVERSIONS = _aten("to.dtype _to_copy.default type_as.default")
COMPUTE = WEIGHTED | MATMULS | ELEMENTWISE | REDUCTIONS | SAME_SCALE
