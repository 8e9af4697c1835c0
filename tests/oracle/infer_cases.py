# SPDX-License-Identifier: Apache-2.0
"""Random legal instances of every operation type that Berth infers shapes of; infer_ops.py judges them.

A generator takes a Draw and an opset, and returns (inputs, attributes, number of outputs). An input is an Array of
shape and type that comes at run time, a numpy array (stored in the file), or None (left out).
"""
import numpy as np

F, I64, I32, U8, I8, BOOL = np.float32, np.int64, np.int32, np.uint8, np.int8, np.bool_


class Array:
    def __init__(self, shape, dtype=F, low=0, high=3):
        self.shape, self.dtype, self.low, self.high = tuple(int(d) for d in shape), np.dtype(dtype), low, high


class Draw:
    """Random numbers; `below` and `pick` keep the generators short."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def int(self, low, high):
        return int(self.rng.integers(low, high + 1))

    def pick(self, values):
        return values[self.int(0, len(values) - 1)]

    def chance(self, p=0.5):
        return self.rng.random() < p

    def shape(self, low=0, high=4, size=(1, 6)):
        return [self.int(*size) for _ in range(self.int(low, high))]

    def axis(self, rank):
        return self.int(-rank, rank - 1)

    def axes(self, rank, low=1):
        chosen = self.rng.permutation(rank)[: self.int(low, rank)]
        return [int(a) - (rank if self.chance(0.3) else 0) for a in chosen]

    def partner(self, shape):
        """A shape that broadcasts with `shape`."""
        other = [1 if self.chance(0.3) else d for d in shape][self.int(0, len(shape)):]
        return other


def ints(values):
    return np.array(values, dtype=I64)


GENERATORS = {}  # (type, domain) -> (generator, lowest opset, highest opset)


def op(names, low=7, high=23, domain=""):
    def register(generator):
        for name in names.split():
            GENERATORS[name, domain] = (generator, low, high)
        return generator
    return register


# --- element by element ---

@op("Abs Acos Acosh Asin Asinh Atan Atanh Ceil Cos Cosh Elu Erf Exp Floor HardSigmoid LeakyRelu Log Neg Reciprocal Relu "
    "Selu Shrink Sigmoid Sign Sin Sinh Softplus Softsign Sqrt Tan Tanh ThresholdedRelu", low=9)
@op("Identity", low=7)
@op("Celu", low=12)
@op("Round", low=11)
@op("HardSwish", low=14)
@op("Mish", low=18)
@op("Gelu", low=20)
def unary(d, opset):
    return [Array(d.shape())], {}, 1


@op("Swish", low=24, high=24)
def swish(d, opset):
    return [Array(d.shape())], {}, 1


@op("Not", low=7)
def logical_not(d, opset):
    return [Array(d.shape(), BOOL)], {}, 1


@op("BitwiseNot", low=18)
def bitwise_not(d, opset):
    return [Array(d.shape(), d.pick([I32, U8, I64]))], {}, 1


@op("IsNaN", low=9)
@op("IsInf", low=10)
def is_nan(d, opset):
    return [Array(d.shape())], {}, 1


@op("Clip", low=7)
def clip(d, opset):
    if opset < 11:
        return [Array(d.shape())], {"min": 0.0, "max": 1.0}, 1
    return [Array(d.shape()), np.float32(0) if d.chance() else None, np.float32(1)], {}, 1


@op("Add Sub Mul Div", low=7)
def arithmetic(d, opset):
    shape = d.shape()
    dtype = d.pick([F, I64, I32])
    pair = [Array(shape, dtype, 1), Array(d.partner(shape), dtype, 1)]
    return pair if d.chance() else pair[::-1], {}, 1


@op("Mod", low=10)
def mod(d, opset):
    shape = d.shape()
    return [Array(shape, I64, 1), Array(d.partner(shape), I64, 1)], {"fmod": 1} if d.chance() else {}, 1


@op("Pow", low=7)
def power(d, opset):
    shape = d.shape()
    return [Array(shape), Array(d.partner(shape), d.pick([F, I64]) if opset >= 12 else F)], {}, 1


@op("Min Max Sum Mean", low=8)
def variadic(d, opset):
    shape = d.shape()
    return [Array(shape)] + [Array(d.partner(shape)) for _ in range(d.int(0, 3))], {}, 1


@op("And Or Xor", low=7)
def logical(d, opset):
    shape = d.shape()
    return [Array(shape, BOOL), Array(d.partner(shape), BOOL)], {}, 1


@op("Equal", low=7)
@op("Less Greater", low=9)
@op("LessOrEqual GreaterOrEqual", low=12)
def compare(d, opset):
    shape = d.shape()
    return [Array(d.partner(shape), I64), Array(shape, I64)], {}, 1


@op("BitShift", low=11)
def bit_shift(d, opset):
    shape = d.shape()
    return [Array(shape, U8), Array(d.partner(shape), U8)], {"direction": "LEFT"}, 1


@op("BitwiseAnd BitwiseOr BitwiseXor", low=18)
def bitwise(d, opset):
    shape = d.shape()
    return [Array(shape, I32), Array(d.partner(shape), I32)], {}, 1


@op("Where", low=9)
def where(d, opset):
    shape = d.shape()
    return [Array(d.partner(shape), BOOL), Array(shape), Array(d.partner(shape))], {}, 1


@op("PRelu", low=7)
def prelu(d, opset):
    shape = d.shape(1)
    return [Array(shape), Array(d.partner(shape))], {}, 1


@op("Cast", low=7)
def cast(d, opset):
    return [Array(d.shape(), d.pick([F, I64, BOOL]))], {"to": d.pick([1, 6, 7, 9, 10, 11, 3, 2])}, 1


@op("CastLike", low=15)
def cast_like(d, opset):
    return [Array(d.shape()), Array(d.shape(), d.pick([I64, I32, np.float64]))], {}, 1


@op("BitCast", low=26, high=26)
def bit_cast(d, opset):
    return [Array(d.shape())], {"to": d.pick([6, 12])}, 1


@op("Dropout", low=7)
def dropout(d, opset):
    return [Array(d.shape(1))], {}, d.int(1, 2)


@op("Bernoulli", low=15)
@op("RandomNormalLike RandomUniformLike", low=7)
def like(d, opset):
    return [Array(d.shape(1), F, 0, 1)], {"dtype": d.pick([1, 11])} if d.chance() else {}, 1


@op("EyeLike", low=9)
def eye_like(d, opset):
    return [Array(d.shape(2, 2))], {"dtype": d.pick([1, 7])} if d.chance() else {}, 1


@op("Trilu", low=14)
def trilu(d, opset):
    return [Array(d.shape(2)), np.array(d.int(-2, 2), dtype=I64)] if d.chance() else [Array(d.shape(2))], {}, 1


@op("CumSum", low=11)
@op("CumProd", low=26, high=26)
def cum_sum(d, opset):
    shape = d.shape(1)
    return [Array(shape), np.array(d.axis(len(shape)), dtype=I64)], {}, 1


@op("ReverseSequence", low=10)
def reverse_sequence(d, opset):
    shape = d.shape(2)
    return [Array(shape), np.ones(shape[1], dtype=I64)], {}, 1


@op("ImageScaler", high=7)
def image_scaler(d, opset):
    shape = d.shape(4, 4)
    return [Array(shape)], {"scale": 2.0, "bias": [0.0] * shape[1]}, 1


@op("StringConcat", low=20)
def string_concat(d, opset):
    shape = d.shape(1)
    return [Array(shape, np.str_), Array(d.partner(shape), np.str_)], {}, 1


@op("RegexFullMatch", low=20)
def regex(d, opset):
    return [Array(d.shape(1), np.str_)], {"pattern": "a.*"}, 1


# --- normalisation ---

@op("LRN", low=7)
def lrn(d, opset):
    return [Array(d.shape(4, 4))], {"size": 3}, 1


@op("InstanceNormalization", low=7)
def instance_norm(d, opset):
    shape = d.shape(3)
    return [Array(shape), Array([shape[1]]), Array([shape[1]])], {}, 1


@op("GroupNormalization", low=21)
def group_norm(d, opset):
    shape = d.shape(3)
    return [Array(shape), Array([shape[1]]), Array([shape[1]])], {"num_groups": 1}, 1


@op("LpNormalization", low=7)
def lp_norm(d, opset):
    shape = d.shape(1)
    return [Array(shape)], {"axis": d.axis(len(shape))}, 1


@op("MeanVarianceNormalization", low=9)
def mvn(d, opset):
    return [Array(d.shape(4, 4))], {}, 1


@op("RMSNormalization", low=23)
def rms_norm(d, opset):
    shape = d.shape(1)
    return [Array(shape), Array(shape[-1:])], {}, 1


@op("LayerNormalization", low=17)
def layer_norm(d, opset):
    shape = d.shape(1)
    axis = d.axis(len(shape))
    return [Array(shape), Array(shape[axis:])], {"axis": axis}, d.int(1, 3)


@op("SimplifiedLayerNormalization", low=17)
def simplified_layer_norm(d, opset):
    shape = d.shape(1)
    return [Array(shape), Array(shape[-1:])], {"axis": -1}, 1


@op("BatchNormalization", low=7)
def batch_norm(d, opset):
    shape = d.shape(2)
    training = opset >= 14 and d.chance()
    c = [shape[1]]
    return ([Array(shape), Array(c), Array(c), Array(c), Array(c, F, 1)], {"training_mode": 1} if training else {},
            3 if training else 1)


@op("Softmax LogSoftmax Hardmax", low=7)
def softmax(d, opset):
    shape = d.shape(2)
    return [Array(shape)], {"axis": d.axis(len(shape)) if opset >= 11 else d.int(0, len(shape) - 1)}, 1


@op("NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss", low=13)
def loss(d, opset):
    shape = d.shape(2)
    return [Array(shape), Array([shape[0]] + shape[2:], I64, 0, 0)], {"reduction": d.pick(["none", "mean", "sum"])}, 1


# --- reductions ---

@op("ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum "
    "ReduceSumSquare", low=7)
def reduce(d, opset, name=""):
    shape = d.shape(1)
    keep = {"keepdims": d.int(0, 1)} if d.chance() else {}
    as_input = opset >= 18 or (opset >= 13 and name == "ReduceSum")
    axes = d.axes(len(shape)) if opset >= 11 else [a % len(shape) for a in d.axes(len(shape))]
    if not as_input:
        return [Array(shape)], keep | ({"axes": axes} if d.chance(0.8) else {}), 1
    form = d.int(0, 3)
    if form == 0:
        return [Array(shape)], keep | ({"noop_with_empty_axes": d.int(0, 1)} if d.chance() else {}), 1
    if form == 1:
        return [Array(shape), ints([])], keep | {"noop_with_empty_axes": d.int(0, 1)}, 1
    return [Array(shape), ints(axes)], keep, 1


@op("ArgMax ArgMin", low=7)
def arg_reduce(d, opset):
    shape = d.shape(1)
    axis = d.axis(len(shape)) if opset >= 11 else d.int(0, len(shape) - 1)
    return [Array(shape)], {"axis": axis, "keepdims": d.int(0, 1)}, 1


@op("TopK", low=7)
def top_k(d, opset):
    shape = d.shape(1, 4, (2, 6))
    axis = d.axis(len(shape)) if opset >= 11 else d.int(0, len(shape) - 1)
    k = d.int(1, shape[axis])
    if opset < 10:
        return [Array(shape)], {"axis": axis, "k": k}, 2
    return [Array(shape), ints([k])], {"axis": axis}, 2


# --- convolutions and pools ---

def window(d, n, dilated=True, ceil=False):
    """Attributes of a window over n dimensions, and sizes that it fits into."""
    kernel = [d.int(1, 4) for _ in range(n)]
    attributes = {}
    dilations = [1] * n
    if d.chance():
        attributes["strides"] = [d.int(1, 3) for _ in range(n)]
    if dilated and d.chance(0.4):
        dilations = attributes["dilations"] = [d.int(1, 2) for _ in range(n)]
    form = d.int(0, 4)
    if form == 0:
        attributes["auto_pad"] = d.pick(["SAME_UPPER", "SAME_LOWER", "VALID", "NOTSET"])
    elif form <= 2:
        attributes["pads"] = [d.int(0, max(0, k - 1)) for k in kernel * 2]
    if ceil and d.chance(0.4):
        attributes["ceil_mode"] = 1
    size = [(k - 1) * s + 1 + d.int(0, 6) for k, s in zip(kernel, dilations)]
    return kernel, size, attributes


@op("Conv", low=7)
def conv(d, opset, n=None):
    n = n or d.int(1, 3)
    kernel, size, attributes = window(d, n)
    group = d.pick([1, 1, 2])
    c, m = group * d.int(1, 2), group * d.int(1, 3)
    if group > 1:
        attributes["group"] = group
    if d.chance():
        attributes["kernel_shape"] = kernel
    inputs = [Array([d.int(1, 2), c, *size]), Array([m, c // group, *kernel])]
    return inputs + ([Array([m])] if d.chance() else []), attributes, 1


@op("ConvInteger", low=10)
def conv_integer(d, opset):
    inputs, attributes, _ = conv(d, opset, 2)
    return [Array(inputs[0].shape, U8), Array(inputs[1].shape, U8)], attributes, 1


@op("QLinearConv", low=10)
def qlinear_conv(d, opset):
    inputs, attributes, _ = conv(d, opset, 2)
    scale, zero = np.float32(0.1), np.uint8(1)
    return [Array(inputs[0].shape, U8), scale, zero, Array(inputs[1].shape, U8), scale, zero, scale, zero], attributes, 1


@op("ConvTranspose", low=7)
def conv_transpose(d, opset):
    n = d.int(1, 2)
    kernel, size, attributes = window(d, n)
    if "pads" in attributes:
        attributes["pads"] = [min(p, 1) if k > 2 else 0 for p, k in zip(attributes["pads"], kernel * 2)]
    group = d.pick([1, 1, 2])
    if group > 1:
        attributes["group"] = group
    if "auto_pad" not in attributes and "strides" in attributes and d.chance():
        attributes["output_padding"] = [d.int(0, s - 1) for s in attributes["strides"]]
    elif "auto_pad" not in attributes and d.chance(0.2):
        attributes.pop("pads", None)
        strides = attributes.get("strides", [1] * n)
        dilations = attributes.get("dilations", [1] * n)
        attributes["output_shape"] = [(s - 1) * t + (k - 1) * e + 1
                                      for s, t, k, e in zip(size, strides, kernel, dilations)]
    c, m = group * d.int(1, 2), d.int(1, 3)
    return [Array([d.int(1, 2), c, *size]), Array([c, m, *kernel])], attributes, 1


@op("DeformConv", low=19)
def deform_conv(d, opset):
    kernel, size, attributes = window(d, 2)
    attributes.pop("auto_pad", None)
    strides, dilations = attributes.get("strides", [1, 1]), attributes.get("dilations", [1, 1])
    pads = attributes.get("pads", [0] * 4)
    out = [(size[i] + pads[i] + pads[i + 2] - (kernel[i] - 1) * dilations[i] - 1) // strides[i] + 1 for i in (0, 1)]
    return ([Array([1, 2, *size]), Array([3, 2, *kernel]), Array([1, 2 * kernel[0] * kernel[1], *out])], attributes, 1)


@op("MaxPool AveragePool LpPool", low=7)
def pool(d, opset, name=""):
    n = d.int(1, 3)
    dilated = {"MaxPool": 10, "AveragePool": 19, "LpPool": 18}[name]
    ceil = {"MaxPool": 10, "AveragePool": 10, "LpPool": 18}[name]
    kernel, size, attributes = window(d, n, opset >= dilated, opset >= ceil)
    if attributes.get("auto_pad", "").startswith("SAME"):
        # The runtime then pads for a window without dilation, and onnx rounds up twice.
        attributes.pop("dilations", None)
        attributes.pop("ceil_mode", None)
    return [Array([d.int(1, 2), d.int(1, 3), *size])], attributes | {"kernel_shape": kernel}, (
        2 if name == "MaxPool" and opset >= 8 and d.chance(0.3) else 1)


@op("GlobalAveragePool GlobalMaxPool GlobalLpPool", low=7)
def global_pool(d, opset):
    return [Array(d.shape(3, 5))], {}, 1


@op("MaxUnpool", low=9)
def max_unpool(d, opset):
    shape = d.shape(4, 4, (2, 4))
    attributes = {"kernel_shape": [2, 2], "strides": [2, 2]}
    inputs = [Array(shape), Array(shape, I64, 0, 3)]
    if d.chance(0.3):
        inputs.append(ints(shape[:2] + [2 * shape[2] + 1, 2 * shape[3] + 1]))
    return inputs, attributes, 1


@op("MaxRoiPool", low=7)
def max_roi_pool(d, opset):
    return [Array([1, 2, 8, 8]), Array([d.int(1, 4), 5], F, 0, 0)], {"pooled_shape": [d.int(1, 3), d.int(1, 3)]}, 1


@op("RoiAlign", low=10)
def roi_align(d, opset):
    rois = d.int(1, 4)
    attributes = {"output_height": d.int(1, 3), "output_width": d.int(1, 3)} if d.chance(0.7) else {}
    return [Array([1, 2, 8, 8]), Array([rois, 4]), Array([rois], I64, 0, 0)], attributes, 1


# --- products ---

def matrices(d):
    k, m, n = d.int(1, 5), d.int(1, 5), d.int(1, 5)
    batch = d.shape(0, 2)
    a = d.partner(batch) + [m, k] if d.chance(0.8) else [k]
    b = batch + [k, n] if d.chance(0.8) else [k]
    return a, b


@op("MatMul", low=7)
def matmul(d, opset):
    a, b = matrices(d)
    return [Array(a), Array(b)], {}, 1


@op("MatMulInteger", low=10)
def matmul_integer(d, opset):
    a, b = matrices(d)
    return [Array(a, U8), Array(b, U8)], {}, 1


@op("QLinearMatMul", low=10)
def qlinear_matmul(d, opset):
    a, b = matrices(d)
    scale, zero = np.float32(0.1), np.uint8(1)
    return [Array(a, U8), scale, zero, Array(b, U8), scale, zero, scale, zero], {}, 1


@op("Gemm", low=7)
def gemm(d, opset):
    m, k, n = d.int(1, 5), d.int(1, 5), d.int(1, 5)
    ta, tb = d.int(0, 1), d.int(0, 1)
    inputs = [Array([k, m] if ta else [m, k]), Array([n, k] if tb else [k, n]), Array(d.pick([[n], [m, n], [1, n], []]))]
    return inputs[: 2 if opset >= 11 and d.chance(0.3) else 3], {"transA": ta, "transB": tb}, 1


@op("Det", low=11)
def det(d, opset):
    n = d.int(1, 4)
    return [Array(d.shape(0, 2) + [n, n])], {}, 1


@op("Einsum", low=12)
def einsum(d, opset):
    sizes = {letter: d.int(1, 4) for letter in "abcijk"}
    equation = d.pick(["bij,bjk->bik", "ij,jk", "ii->i", "...ij,...jk->...ik", "ab,cd->abcd", "abc->ca", "b...i->...b",
                       "ij->", "a, a ->a", "...i,...i", "ij,kj"])
    sizes["d"] = d.int(1, 4)
    shapes = [[sizes[c] for c in term.replace("...", "").replace(" ", "")] for term in
              equation.split("->")[0].split(",")]
    if "..." in equation:
        extra = d.shape(0, 2)
        at = 1 if equation.startswith("b...") else 0
        shapes = [s[:at] + extra + s[at:] for s in shapes]
    return [Array(s) for s in shapes], {"equation": equation}, 1


@op("Attention", low=23)
def attention(d, opset):
    b, s, length, n, h, v = d.int(1, 2), d.int(1, 4), d.int(1, 4), d.int(1, 3), d.int(1, 4), d.int(1, 4)
    if d.chance():
        q, k, v = [b, n, s, h], [b, n, length, h], [b, n, length, v]
        attributes = {}
    else:
        q, k, v = [b, s, n * h], [b, length, n * h], [b, length, n * v]
        attributes = {"q_num_heads": n, "kv_num_heads": n}
    return [Array(q), Array(k), Array(v)], attributes, 1


@op("RotaryEmbedding", low=23)
def rotary(d, opset):
    b, n, s, h = d.int(1, 2), d.int(1, 2), d.int(1, 3), 2 * d.int(1, 3)
    return [Array([b, n, s, h]), Array([s, h // 2]), Array([s, h // 2]), Array([b, s], I64, 0, 0)], {}, 1


@op("TensorScatter", low=24, high=24)
def tensor_scatter(d, opset):
    b, s, h = d.int(1, 2), d.int(2, 5), d.int(1, 4)
    return [Array([b, s, h]), Array([b, 1, h])], {}, 1


# --- quantisation ---

@op("QuantizeLinear", low=10)
def quantize(d, opset):
    form = d.int(0, 2)
    inputs = [Array(d.shape(1)), np.float32(0.1)]
    if form == 1:
        inputs.append(d.pick([np.uint8(1), np.int8(1)]))
    return inputs, {"output_dtype": d.pick([2, 3])} if form == 2 and opset >= 21 else {}, 1


@op("DequantizeLinear", low=10)
def dequantize(d, opset):
    return [Array(d.shape(1), d.pick([U8, I8])), np.float32(0.1)], {}, 1


@op("DynamicQuantizeLinear", low=11)
def dynamic_quantize(d, opset):
    return [Array(d.shape(1))], {}, 3


# --- moving ---

@op("Concat", low=7)
def concat(d, opset):
    shape = d.shape(1)
    axis = d.axis(len(shape)) if opset >= 11 else d.int(0, len(shape) - 1)
    arrays = []
    for _ in range(d.int(1, 4)):
        part = list(shape)
        part[axis] = d.int(0, 4)
        arrays.append(Array(part))
    return arrays, {"axis": axis}, 1


@op("Split", low=7)
def split(d, opset):
    n = d.int(1, 4)
    parts = [d.int(1, 3) for _ in range(n)]
    equal = d.chance()
    if equal:
        parts = [parts[0]] * n
    shape = d.shape(1)
    axis = d.axis(len(shape)) if opset >= 11 else d.int(0, len(shape) - 1)
    shape[axis] = sum(parts)
    attributes = {"axis": axis}
    if opset >= 18 and equal:
        size = d.int(max(1, (n - 1) ** 2), n * 4)
        shape[axis] = size
        return [Array(shape)], attributes | {"num_outputs": n}, n
    if equal and d.chance():
        return [Array(shape)], attributes, n
    if opset < 13:
        return [Array(shape)], attributes | {"split": parts}, n
    return [Array(shape), ints(parts)], attributes, n


@op("Transpose", low=7)
def transpose(d, opset):
    shape = d.shape(1)
    return [Array(shape)], {"perm": [int(i) for i in d.rng.permutation(len(shape))]} if d.chance(0.8) else {}, 1


@op("Pad", low=7)
def pad(d, opset):
    shape = d.shape(1, 4, (3, 6))
    n = len(shape)
    pads = [d.int(-1, 3) for _ in range(2 * n)]
    if opset < 11:
        return [Array(shape)], {"pads": pads}, 1
    if opset >= 18 and d.chance():
        axes = d.axes(n)
        return [Array(shape), ints([d.int(-1, 3) for _ in axes * 2]), np.float32(0), ints(axes)], {}, 1
    return [Array(shape), ints(pads)], {}, 1


@op("Tile", low=7)
def tile(d, opset):
    shape = d.shape(1)
    return [Array(shape), ints([d.int(0, 3) for _ in shape])], {}, 1


@op("Expand", low=8)
def expand(d, opset):
    shape = d.shape(1)
    return [Array(d.partner(shape)), ints([1 if d.chance(0.3) else s for s in shape])], {}, 1


@op("CenterCropPad", low=18)
def center_crop_pad(d, opset):
    shape = d.shape(2, 3)
    if d.chance():
        return [Array(shape), ints([d.int(1, 6) for _ in shape])], {}, 1
    axes = d.axes(len(shape))
    return [Array(shape), ints([d.int(1, 6) for _ in axes])], {"axes": axes}, 1


@op("Reshape", low=7)
def reshape(d, opset):
    shape = d.shape(1, 4)
    total = int(np.prod(shape))
    form = d.int(0, 4)
    target = list(d.rng.permutation(shape))
    if form == 1:
        target[d.int(0, len(target) - 1)] = -1
    if form == 2:
        target = [0] * d.int(0, len(shape)) + [-1]
    if form == 3:
        target = [total, 1]
    if form == 4 and opset >= 14:
        return [Array([0, 3]), ints([3, 0])], {"allowzero": 1}, 1
    return [Array(shape), ints(target)], {}, 1


@op("Flatten", low=7)
def flatten(d, opset):
    shape = d.shape(1)
    return [Array(shape)], {"axis": d.int(-len(shape) if opset >= 11 else 0, len(shape))}, 1


@op("Squeeze", low=7)
def squeeze(d, opset):
    shape = d.shape(1, 3)
    axes = sorted(a % len(shape) for a in d.axes(len(shape)))
    for a in axes:
        shape[a] = 1
    if d.chance(0.2):
        return [Array(shape)], {}, 1
    if opset >= 11 and d.chance():
        axes = [a - len(shape) for a in axes]
    return ([Array(shape)], {"axes": axes}, 1) if opset < 13 else ([Array(shape), ints(axes)], {}, 1)


@op("Unsqueeze", low=7)
def unsqueeze(d, opset):
    shape = d.shape(0, 3)
    new = d.int(1, 2)
    axes = [int(a) for a in d.rng.permutation(len(shape) + new)[:new]]
    if opset >= 11 and d.chance():
        axes = [a - len(shape) - new for a in axes]
    return ([Array(shape)], {"axes": sorted(axes)}, 1) if opset < 13 else ([Array(shape), ints(axes)], {}, 1)


@op("Shape", low=7)
def shape_of(d, opset):
    attributes = {}
    if opset >= 15:
        for name in ("start", "end"):
            if d.chance():
                attributes[name] = d.int(-5, 5)
    return [Array(d.shape())], attributes, 1


@op("Size", low=7)
def size_of(d, opset):
    return [Array(d.shape())], {}, 1


# --- making ---

@op("ConstantOfShape", low=9)
def constant_of_shape(d, opset):
    value = d.pick([None, np.array([1], dtype=I64), np.array([2], dtype=F), np.array([True])])
    return [ints(d.shape(0, 4, (0, 4)))], {} if value is None else {"value": value}, 1


@op("Range", low=11)
def range_of(d, opset):
    dtype = d.pick([I64, F, I32, np.float64])
    delta = d.pick([-3, -1, 1, 2]) if np.dtype(dtype).kind == "i" else d.pick([0.1, -0.3, 2.5])
    return [np.array(v, dtype=dtype) for v in (d.int(-5, 5), d.int(-20, 20), delta)], {}, 1


@op("RandomNormal RandomUniform", low=7)
def random(d, opset):
    return [], {"shape": d.shape(1)} | ({"dtype": d.pick([1, 11])} if d.chance() else {}), 1


@op("Multinomial", low=7)
def multinomial(d, opset):
    return [Array(d.shape(2, 2))], {"sample_size": d.int(1, 5)} | ({"dtype": d.pick([6, 7])} if d.chance() else {}), 1


@op("OneHot", low=9)
def one_hot(d, opset):
    shape = d.shape(1, 3)
    axis = d.int(-len(shape) - 1, len(shape))
    depth = d.pick([np.array(5, dtype=I64), np.array([4], dtype=I64), np.array(3, dtype=F)])
    return [Array(shape, I64), depth, Array([2], d.pick([F, I64]))], {"axis": axis}, 1


@op("HannWindow HammingWindow BlackmanWindow", low=17)
def signal_window(d, opset):
    return [np.array(d.int(1, 9), dtype=I64)], {"output_datatype": d.pick([1, 11])} if d.chance() else {}, 1


@op("MelWeightMatrix", low=17)
def mel(d, opset):
    bins = [np.array(v, dtype=I64) for v in (d.int(1, 8), 16 * d.int(1, 4), 8192)]
    return bins + [np.float32(0), np.float32(4096)], {}, 1


@op("DFT", low=17)
def dft(d, opset):
    shape = d.shape(1, 2, (2, 6)) + [d.int(2, 8), 1 if d.chance() else 2]
    attributes = {}
    if d.chance(0.4):
        attributes["onesided"] = 1
        shape[-1] = 1
    inputs = [Array(shape)]
    length = np.array(d.int(2, 8), dtype=I64) if d.chance(0.4) else None
    axis = d.int(0, len(shape) - 2)
    if opset < 20:
        return inputs + ([length] if length is not None else []), attributes | {"axis": axis}, 1
    return inputs + [length, np.array(axis, dtype=I64)], attributes, 1


@op("STFT", low=17)
def stft(d, opset):
    length = 2 * d.int(2, 4)
    signal = Array([d.int(1, 2), length + d.int(0, 9), 1])
    step = np.array(d.int(1, 3), dtype=I64)
    if d.chance():
        return [signal, step, np.ones(length, dtype=F)], {"onesided": d.int(0, 1)}, 1
    return [signal, step, None, np.array(length, dtype=I64)], {"onesided": 1}, 1


# --- indexing ---

@op("Slice", low=7)
def slice_of(d, opset):
    shape = d.shape(1, 4)
    axes = d.axes(len(shape)) if opset >= 10 else [a % len(shape) for a in d.axes(len(shape))]
    far = [2**63 - 1, -(2**63), 2**31 - 1]
    starts = [d.pick(far) if d.chance(0.1) else d.int(-7, 7) for _ in axes]
    ends = [d.pick(far) if d.chance(0.2) else d.int(-7, 7) for _ in axes]
    if opset < 10:
        return [Array(shape)], {"starts": starts, "ends": ends, "axes": axes}, 1
    inputs = [Array(shape), ints(starts), ints(ends), ints(axes)]
    if d.chance(0.6):
        # The runtime and numpy differ in what a backward slice to the largest number is.
        inputs.append(ints([d.pick([1, 2, 3]) if end > 7 else d.pick([1, 2, 3, -1, -2]) for end in ends]))
    return inputs, {}, 1


@op("Gather", low=7)
def gather(d, opset):
    shape = d.shape(1)
    axis = d.axis(len(shape)) if opset >= 11 else d.int(0, len(shape) - 1)
    return [Array(shape), Array(d.shape(0, 2), I64, 0, 0)], {"axis": axis}, 1


@op("GatherElements", low=11)
def gather_elements(d, opset):
    shape = d.shape(1)
    axis = d.axis(len(shape))
    indices = [d.int(1, s) for s in shape]
    indices[axis] = d.int(1, 5)
    return [Array(shape), Array(indices, I64, 0, 0)], {"axis": axis}, 1


@op("GatherND", low=11)
def gather_nd(d, opset):
    shape = d.shape(2)
    batch = d.int(0, 1) if opset >= 12 else 0
    depth = d.int(1, len(shape) - batch)
    indices = shape[:batch] + d.shape(0, 2) + [depth]
    return [Array(shape), Array(indices, I64, 0, 0)], {"batch_dims": batch} if batch else {}, 1


@op("Scatter", low=9, high=10)
@op("ScatterElements", low=11)
def scatter_elements(d, opset):
    shape = d.shape(1)
    update = [d.int(1, s) for s in shape]
    return [Array(shape), Array(update, I64, 0, 0), Array(update)], {"axis": 0}, 1


@op("ScatterND", low=11)
def scatter_nd(d, opset):
    shape = d.shape(1)
    depth = d.int(1, len(shape))
    return [Array(shape), Array([1, depth], I64, 0, 0), Array([1] + shape[depth:])], {}, 1


@op("NonZero", low=9)
def non_zero(d, opset):
    shape = d.shape(1, 3)
    if d.chance():
        return [d.rng.integers(0, 2, shape).astype(I64)], {}, 1
    return [Array(shape)], {}, 1


@op("NonMaxSuppression", low=10)
def nms(d, opset):
    return [Array([1, 5, 4]), Array([1, 2, 5]), np.array([2], dtype=I64)], {}, 1


@op("Unique", low=11)
def unique(d, opset):
    shape = d.shape(1, 3)
    return [Array(shape)], {"axis": d.axis(len(shape))} if d.chance() else {}, d.int(1, 4)


@op("Compress", low=9)
def compress(d, opset):
    shape = d.shape(1, 3)
    flat = d.chance(0.3)
    axis = d.axis(len(shape)) if opset >= 11 else d.int(0, len(shape) - 1)
    n = int(np.prod(shape)) if flat else shape[axis]
    condition = d.rng.integers(0, 2, n).astype(BOOL) if d.chance(0.7) else Array([n], BOOL)
    return [Array(shape), condition], {} if flat else {"axis": axis}, 1


# --- images ---

@op("Resize", low=10)
def resize(d, opset):
    shape = d.shape(4, 4, (2, 7))
    scales = np.array([1, 1, d.pick([0.5, 2, 1.3, 0.7, 3]), d.pick([0.5, 2, 2.7, 1])], dtype=F)
    if opset == 10:
        return [Array(shape), scales], {"mode": "nearest"}, 1
    roi = np.array([], dtype=F) if opset < 13 or d.chance() else None
    attributes = {"mode": d.pick(["nearest", "linear"])}
    sizes = ints(shape[:2] + [d.int(1, 9), d.int(1, 9)])
    empty = np.array([], dtype=F) if opset < 13 else None
    axes = opset >= 18 and d.chance()
    if axes:
        attributes["axes"] = [2, 3] if d.chance() else [-2, -1]
        scales, sizes = scales[2:], sizes[2:]
    if d.chance():
        return [Array(shape), roi, scales], attributes, 1
    if axes and d.chance(0.6):
        attributes["axes"] = [2, 3]  # the runtime forgets to count negative ones from the end
        attributes["keep_aspect_ratio_policy"] = d.pick(["not_larger", "not_smaller", "stretch"])
    return [Array(shape), roi, empty, sizes], attributes, 1


@op("Upsample", low=7, high=9)
def upsample(d, opset):
    shape = d.shape(4, 4, (1, 5))
    scales = [1.0, 1.0, d.pick([1.0, 2.0, 1.5]), d.pick([2.0, 3.0])]
    if opset < 9:
        return [Array(shape)], {"scales": scales}, 1
    return [Array(shape), np.array(scales, dtype=F)], {}, 1


@op("DepthToSpace", low=7)
def depth_to_space(d, opset):
    b = d.int(1, 3)
    return [Array([d.int(1, 2), d.int(1, 2) * b * b, d.int(1, 3), d.int(1, 3)])], {"blocksize": b}, 1


@op("SpaceToDepth", low=7)
def space_to_depth(d, opset):
    b = d.int(1, 3)
    return [Array([d.int(1, 2), d.int(1, 2), b * d.int(1, 3), b * d.int(1, 3)])], {"blocksize": b}, 1


@op("GridSample", low=16)
def grid_sample(d, opset):
    n = d.int(1, 2)
    return [Array([n, 2, 4, 5]), Array([n, d.int(1, 4), d.int(1, 4), 2])], {}, 1


@op("AffineGrid", low=20)
def affine_grid(d, opset):
    n = d.int(1, 2)
    if d.chance():
        return [Array([n, 2, 3]), ints([n, 3, d.int(2, 4), d.int(2, 4)])], {}, 1
    return [Array([n, 3, 4]), ints([n, 3, d.int(2, 4), d.int(2, 4), d.int(2, 4)])], {}, 1


@op("Col2Im", low=18)
def col2im(d, opset):
    block = [d.int(1, 2), d.int(1, 2)]
    image = [b + d.int(0, 3) for b in block]
    positions = np.prod([i - b + 1 for i, b in zip(image, block)])
    return [Array([d.int(1, 2), 2 * block[0] * block[1], positions]), ints(image), ints(block)], {}, 1


# --- recurrent ---

@op("LSTM GRU RNN", low=7)
def recurrent(d, opset, name=""):
    gates = {"LSTM": 4, "GRU": 3, "RNN": 1}[name]
    s, b, i, h = d.int(1, 3), d.int(1, 3), d.int(1, 3), d.int(1, 4)
    attributes = {"hidden_size": h}
    n = 1
    if d.chance():
        attributes["direction"] = d.pick(["forward", "reverse", "bidirectional"])
        n = 2 if attributes["direction"] == "bidirectional" else 1
        if name == "RNN":
            attributes["activations"] = ["Tanh"] * n
    x = [s, b, i]
    if opset >= 14 and d.chance(0.3):
        attributes["layout"] = 1
        x = [b, s, i]
    return ([Array(x), Array([n, gates * h, i]), Array([n, gates * h, h])], attributes,
            d.int(1, 3 if name == "LSTM" else 2))


# --- sequences ---

@op("SequenceConstruct", low=11)
def sequence_construct(d, opset):
    return [Array(d.shape(1))], {}, 1


@op("SequenceEmpty", low=11)
def sequence_empty(d, opset):
    return [], {}, 1


@op("SplitToSequence", low=11)
def split_to_sequence(d, opset):
    return [Array(d.shape(1))], {}, 1


# --- com.microsoft: the onnx package knows none of these, so the generator says what comes out ---

MS = "com.microsoft"


@op("Gelu QuickGelu", low=13, domain=MS)
def ms_unary(d, opset):
    shape = d.shape(1)
    return [Array(shape)], {}, 1, [shape]


@op("Inverse", low=13, domain=MS)
def inverse(d, opset):
    n = d.int(1, 3)
    shape = d.shape(0, 2) + [n, n]
    return [Array(shape)], {}, 1, [shape]


@op("BiasGelu FastGelu", low=13, domain=MS)
def bias_gelu(d, opset):
    shape = d.shape(1)
    return [Array(shape), Array(shape[-1:])], {}, 1, [shape]


@op("RotaryEmbedding", low=13, domain=MS)
def ms_rotary(d, opset):
    b, n, s, h = d.int(1, 2), 2, d.int(1, 3), 16 * d.int(1, 2)
    shape = [b, s, n * h]
    return ([Array(shape), Array([b, s], I64, 0, 0), Array([8, h // 2]), Array([8, h // 2])], {"num_heads": n}, 1,
            [shape])


@op("QuantizeLinear", low=13, domain=MS)
def ms_quantize(d, opset):
    shape = d.shape(1)
    return [Array(shape), np.float32(0.1), np.int8(0)], {}, 1, [shape]


@op("DequantizeLinear", low=13, domain=MS)
def ms_dequantize(d, opset):
    shape = d.shape(1)
    return [Array(shape, I8), np.float32(0.1), np.int8(0)], {}, 1, [shape]


SCALE, ZERO = np.float32(0.1), np.uint8(1)


@op("QLinearAdd QLinearMul", low=13, domain=MS)
def qlinear_binary(d, opset):
    shape = d.shape(1)
    other = d.partner(shape)
    return [Array(shape, U8), SCALE, ZERO, Array(other, U8), SCALE, ZERO, SCALE, ZERO], {}, 1, [shape]


@op("QLinearSigmoid QLinearLeakyRelu", low=13, domain=MS)
def qlinear_unary(d, opset):
    shape = d.shape(1)
    return [Array(shape, U8), SCALE, ZERO, SCALE, ZERO], {}, 1, [shape]


@op("QLinearSoftmax", low=13, domain=MS)
def qlinear_softmax(d, opset):
    shape = d.shape(1)
    return [Array(shape, U8), SCALE, ZERO, SCALE, ZERO], {"opset": 13, "axis": -1}, 1, [shape]


@op("QLinearWhere", low=13, domain=MS)
def qlinear_where(d, opset):
    shape = d.shape(1)
    condition, other = d.partner(shape), d.partner(shape)
    return ([Array(condition, BOOL), Array(shape, U8), SCALE, ZERO, Array(other, U8), SCALE, ZERO, SCALE, ZERO], {}, 1,
            [shape])


@op("QLinearConcat", low=13, domain=MS)
def qlinear_concat(d, opset):
    shape = d.shape(1, 3)
    axis = d.axis(len(shape))
    inputs, total = [SCALE, ZERO], 0
    for _ in range(d.int(1, 3)):
        part = list(shape)
        part[axis] = d.int(1, 4)
        total += part[axis]
        inputs += [Array(part, U8), SCALE, ZERO]
    shape[axis] = total
    return inputs, {"axis": axis}, 1, [shape]


def conv_result(inputs, attributes, weights=1):
    """The formula of the specification, for explicit pads."""
    x, w = inputs[0].shape, inputs[weights].shape
    n = len(x) - 2
    strides, dilations = attributes.get("strides", [1] * n), attributes.get("dilations", [1] * n)
    pads = attributes.get("pads", [0] * 2 * n)
    return [x[0], w[0]] + [(x[2 + i] + pads[i] + pads[n + i] - (w[2 + i] - 1) * dilations[i] - 1) // strides[i] + 1
                           for i in range(n)]


def explicit_conv(d):
    inputs, attributes, _ = conv(d, 13, 2)
    attributes.pop("auto_pad", None)
    return inputs[:2], attributes


@op("FusedConv", low=13, domain=MS)
def fused_conv(d, opset):
    inputs, attributes = explicit_conv(d)
    return inputs, attributes | {"activation": "Relu"}, 1, [conv_result(inputs, attributes)]


def last(shape):
    return [shape[0], *shape[2:], shape[1]]


@op("NhwcFusedConv", low=13, domain=MS)
def nhwc_conv(d, opset):
    inputs, attributes = explicit_conv(d)
    shape = last(conv_result(inputs, attributes))
    return [Array(last(inputs[0].shape)), inputs[1]], attributes, 1, [shape]


@op("NhwcConv", low=13, domain=MS)
def nhwc_conv_f16(d, opset):
    return nhwc_conv(d, opset)


@op("QLinearConv", low=13, domain=MS)
def ms_qlinear_conv(d, opset):
    inputs, attributes = explicit_conv(d)
    shape = conv_result(inputs, attributes)
    x, w = inputs[0].shape, inputs[1].shape
    if d.chance():
        attributes["channels_last"] = 1
        x, shape = last(x), last(shape)
    return [Array(x, U8), SCALE, ZERO, Array(w, U8), SCALE, ZERO, SCALE, ZERO], attributes, 1, [shape]


@op("NhwcMaxPool", low=13, domain=MS)
def nhwc_max_pool(d, opset):
    n, h, w, c = d.int(1, 2), d.int(3, 6), d.int(3, 6), d.int(1, 4)
    return [Array([n, h, w, c], U8)], {"kernel_shape": [2, 3]}, 1, [[n, h - 1, w - 2, c]]


@op("QLinearAveragePool", low=13, domain=MS)
def qlinear_average_pool(d, opset):
    n, h, w, c = d.int(1, 2), d.int(3, 6), d.int(3, 6), d.int(1, 4)
    channels_last = d.int(0, 1)
    x, y = ([n, h, w, c], [n, h - 1, w - 2, c]) if channels_last else ([n, c, h, w], [n, c, h - 1, w - 2])
    return ([Array(x, U8), SCALE, ZERO, SCALE, ZERO], {"kernel_shape": [2, 3], "channels_last": channels_last}, 1, [y])


@op("QLinearGlobalAveragePool", low=13, domain=MS)
def qlinear_global_pool(d, opset):
    n, h, w, c = d.int(1, 2), d.int(3, 6), d.int(3, 6), d.int(1, 4)
    channels_last = d.int(0, 1)
    x, y = ([n, h, w, c], [n, 1, 1, c]) if channels_last else ([n, c, h, w], [n, c, 1, 1])
    return [Array(x, U8), SCALE, ZERO, SCALE, ZERO], {"channels_last": channels_last}, 1, [y]


@op("MatMulBnb4", low=13, domain=MS)
def matmul_bnb4(d, opset):
    k, n = 16 * d.int(1, 2), d.int(1, 5)
    batch = d.shape(1, 3)
    blocks = -(-n * k // 16)
    return ([Array(batch + [k]), np.zeros([n * k // 2], dtype=U8), np.ones(blocks, dtype=F)],
            {"K": k, "N": n, "quant_type": 1, "block_size": 16}, 1, [batch + [n]])


@op("MemcpyFromHost MemcpyToHost", low=13)
@op("BiasAdd GroupNorm MoE QMoE", low=13, domain=MS)
def first_of_many(d, opset):
    """No kernel of the CPU takes these; the output is like the first input."""
    shape = d.shape(1)
    return [Array(shape)], {}, 1, [shape]


@op("FusedMatMul TransposeMatMul", low=13, domain=MS)
def fused_matmul(d, opset, name=""):
    m, k, n = d.int(1, 5), d.int(1, 5), d.int(1, 5)
    batch = d.shape(1, 2)
    ta, tb, ba, bb = (d.int(0, 1) for _ in range(4))
    attributes = {"transA": ta, "transB": tb}
    a, b = ([k, m] if ta else [m, k]), ([n, k] if tb else [k, n])
    a, b = batch + a, batch + b
    if name == "FusedMatMul":
        attributes |= {"transBatchA": ba, "transBatchB": bb}
        a = [a[-2]] + a[:-2] + a[-1:] if ba else a
        b = [b[-2]] + b[:-2] + b[-1:] if bb else b
    return [Array(a), Array(b)], attributes, 1, [batch + [m, n]]


@op("FusedGemm", low=13, domain=MS)
def fused_gemm(d, opset):
    m, k, n = d.int(1, 5), d.int(1, 5), d.int(1, 5)
    return [Array([m, k]), Array([n, k]), Array([n])], {"transB": 1, "activation": "Relu"}, 1, [[m, n]]


@op("QGemm", low=13, domain=MS)
def qgemm(d, opset):
    m, k, n = d.int(1, 5), d.int(1, 5), d.int(1, 5)
    inputs = [Array([m, k], U8), SCALE, ZERO, Array([k, n], U8), SCALE, ZERO, None]
    return inputs + ([SCALE, ZERO] if d.chance() else []), {}, 1, [[m, n]]


@op("MatMulNBits", low=13, domain=MS)
def matmul_nbits(d, opset):
    k, n = 32 * d.int(1, 2), d.int(1, 5)
    batch = d.shape(1, 3)
    blocks = k // 32
    return ([Array(batch + [k]), np.zeros([n, blocks, 16], dtype=U8), np.ones(n * blocks, dtype=F)],
            {"K": k, "N": n, "bits": 4, "block_size": 32}, 1, [batch + [n]])


@op("MatMulIntegerToFloat DynamicQuantizeMatMul", low=13, domain=MS)
def matmul_to_float(d, opset, name=""):
    m, k, n = d.int(1, 5), d.int(1, 5), d.int(1, 5)
    inputs = [Array([m, k], U8 if name == "MatMulIntegerToFloat" else F), Array([k, n], U8)]
    return inputs + [SCALE] * (2 if name == "MatMulIntegerToFloat" else 1), {}, 1, [[m, n]]


@op("Attention", low=13, domain=MS)
def ms_attention(d, opset):
    b, s, n, h, i = d.int(1, 2), d.int(1, 4), d.int(1, 3), d.int(1, 4), d.int(1, 5)
    past = d.int(1, 3)
    inputs = [Array([b, s, i]), Array([i, 3 * n * h]), Array([3 * n * h])]
    if d.chance():
        return inputs, {"num_heads": n}, 1, [[b, s, n * h]]
    return (inputs + [None, Array([2, b, n, past, h])], {"num_heads": n, "unidirectional": 1}, 2,
            [[b, s, n * h], [2, b, n, past + s, h]])


@op("QAttention", low=13, domain=MS)
def qattention(d, opset):
    b, s, n, h, i = d.int(1, 2), d.int(1, 4), d.int(1, 3), d.int(1, 4), d.int(1, 5)
    return ([Array([b, s, i], U8), np.zeros([i, 3 * n * h], dtype=U8), Array([3 * n * h]), SCALE, SCALE, None, ZERO,
             ZERO], {"num_heads": n}, 1, [[b, s, n * h]])


@op("MultiHeadAttention", low=13, domain=MS)
def multi_head_attention(d, opset):
    b, s, length, n, h = d.int(1, 2), d.int(1, 4), d.int(1, 4), d.int(1, 3), 2 * d.int(1, 2)
    form = d.int(0, 2)
    if form == 0:
        return ([Array([b, s, n * h]), Array([b, length, n * h]), Array([b, length, n * h])], {"num_heads": n}, 1,
                [[b, s, n * h]])
    if form == 1:
        return ([Array([b, s, n * h]), Array([b, n, length, h]), Array([b, n, length, h])], {"num_heads": n}, 1,
                [[b, s, n * h]])
    past = d.int(1, 3)
    return ([Array([b, s, n * h]), Array([b, s, n * h]), Array([b, s, n * h]), None, None, None,
             Array([b, n, past, h]), Array([b, n, past, h])], {"num_heads": n}, 3,
            [[b, s, n * h], [b, n, past + s, h], [b, n, past + s, h]])


@op("GroupQueryAttention", low=13, domain=MS)
def group_query_attention(d, opset):
    b, s, kv, h = 1, d.int(1, 4), d.int(1, 2), 8
    n = kv * d.int(1, 2)
    lengths = [np.full([b], s - 1, dtype=I32), np.array(s, dtype=I32)]
    attributes = {"num_heads": n, "kv_num_heads": kv}
    out = [[b, s, n * h], [b, kv, None, h], [b, kv, None, h]]
    if d.chance():
        return [Array([b, s, (n + 2 * kv) * h]), None, None, None, None] + lengths, attributes, 3, out
    return ([Array([b, s, n * h]), Array([b, s, kv * h]), Array([b, s, kv * h]), None, None] + lengths, attributes, 3,
            out)


@op("EmbedLayerNormalization", low=13, domain=MS)
def embed_layer_norm(d, opset):
    b, s, h = d.int(1, 2), d.int(1, 4), d.int(2, 5)
    return ([Array([b, s], I32, 0, 0), Array([b, s], I32, 0, 0), Array([7, h]), Array([8, h]), Array([2, h]), Array([h]),
             Array([h])], {}, 2, [[b, s, h], [b]])


@op("SkipLayerNormalization", low=13, domain=MS)
def skip_layer_norm(d, opset):
    shape = d.shape(3, 3)
    return [Array(shape), Array(shape), Array(shape[-1:])], {}, 1, [shape]


@op("SkipSimplifiedLayerNormalization", low=13, domain=MS)
def skip_simplified(d, opset):
    return skip_layer_norm(d, opset)


# --- ai.onnx.ml ---

ML = "ai.onnx.ml"


@op("Binarizer", low=13, domain=ML)
def binarizer(d, opset):
    shape = d.shape(1, 3)
    return [Array(shape)], {"threshold": 1.0}, 1, [shape]


@op("Imputer", low=13, domain=ML)
def imputer(d, opset):
    n, f = d.int(1, 4), d.int(1, 4)
    return [Array([n, f])], {"imputed_value_floats": [1.0], "replaced_value_float": 0.0}, 1, [[n, f]]


@op("Scaler", low=13, domain=ML)
def scaler(d, opset):
    n, f = d.int(1, 4), d.int(1, 4)
    return [Array([n, f], d.pick([F, I64]))], {"offset": [0.0] * f, "scale": [1.0] * f}, 1, [[n, f]]


@op("Normalizer", low=13, domain=ML)
def normalizer(d, opset):
    n, f = d.int(1, 4), d.int(1, 4)
    return [Array([n, f], F, 1)], {"norm": "L2"}, 1, [[n, f]]


@op("ArrayFeatureExtractor", low=13, domain=ML)
def array_feature_extractor(d, opset):
    shape = d.shape(1, 3)
    k = d.int(1, 4)
    return [Array(shape), np.zeros([1, k], dtype=I64)], {}, 1, [([1] if len(shape) == 1 else shape[:-1]) + [k]]


@op("FeatureVectorizer", low=13, domain=ML)
def feature_vectorizer(d, opset):
    n = d.int(1, 4)
    widths = [d.int(1, 4) for _ in range(d.int(1, 3))]
    return [Array([n, w]) for w in widths], {"inputdimensions": widths}, 1, [[n, sum(widths)]]


@op("LabelEncoder", low=13, domain=ML)
def label_encoder(d, opset):
    shape = d.shape(1, 3)
    values = d.pick([{"values_int64s": [1, 2]}, {"values_floats": [1.0, 2.0]}, {"values_strings": ["a", "b"]}])
    keys = {"keys_strings": ["a", "b"]} if "values_int64s" in values else {"keys_int64s": [0, 1]}
    return [Array(shape, np.str_ if "keys_strings" in keys else I64)], keys | values, 1, [shape]


@op("CategoryMapper", low=13, domain=ML)
def category_mapper(d, opset):
    shape = d.shape(1, 3)
    return ([Array(shape, d.pick([I64, np.str_]))], {"cats_int64s": [0, 1], "cats_strings": ["a", "b"]}, 1, [shape])


@op("OneHotEncoder", low=13, domain=ML)
def one_hot_encoder(d, opset):
    shape = d.shape(1, 3)
    categories = list(range(d.int(1, 4)))
    return [Array(shape, I64, 0, 0)], {"cats_int64s": categories, "zeros": 1}, 1, [shape + [len(categories)]]


@op("LinearClassifier", low=13, domain=ML)
def linear_classifier(d, opset):
    n, f, k = d.int(1, 4), d.int(1, 3), d.int(2, 4)
    return ([Array([n, f])], {"coefficients": [0.5] * (f * k), "intercepts": [0.0] * k,
                              "classlabels_ints": list(range(k))}, 2, [[n], [n, k]])


@op("LinearRegressor", low=13, domain=ML)
def linear_regressor(d, opset):
    n, f, t = d.int(1, 4), d.int(1, 3), d.int(1, 3)
    return [Array([n, f])], {"coefficients": [0.5] * (f * t), "targets": t}, 1, [[n, t]]


def one_leaf(prefix):
    return {"nodes_treeids": [0], "nodes_nodeids": [0], "nodes_featureids": [0], "nodes_modes": ["LEAF"],
            "nodes_values": [0.0], "nodes_truenodeids": [0], "nodes_falsenodeids": [0],
            prefix + "_treeids": [0], prefix + "_nodeids": [0], prefix + "_ids": [0], prefix + "_weights": [1.0]}


@op("TreeEnsembleClassifier", low=13, domain=ML)
def tree_classifier(d, opset):
    n, f, k = d.int(1, 4), d.int(1, 3), d.int(3, 4)
    return [Array([n, f])], one_leaf("class") | {"classlabels_int64s": list(range(k))}, 2, [[n], [n, k]]


@op("TreeEnsembleRegressor", low=13, domain=ML)
def tree_regressor(d, opset):
    n, f, t = d.int(1, 4), d.int(1, 3), d.int(1, 3)
    return [Array([n, f])], one_leaf("target") | {"n_targets": t}, 1, [[n, t]]


@op("SVMClassifier", low=13, domain=ML)
def svm_classifier(d, opset):
    n, f, k = d.int(1, 4), d.int(1, 3), 3
    return ([Array([n, f])], {"kernel_type": "LINEAR", "coefficients": [0.5] * (f * k), "rho": [0.0] * k,
                              "classlabels_ints": list(range(k))}, 2, [[n], [n, k]])


@op("SVMRegressor", low=13, domain=ML)
def svm_regressor(d, opset):
    n, f = d.int(1, 4), d.int(1, 3)
    return ([Array([n, f])], {"kernel_type": "LINEAR", "coefficients": [0.5] * f, "rho": [0.0], "n_supports": 0}, 1,
            [[n, 1]])
