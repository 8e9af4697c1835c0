#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the small ONNX files of tests/golden and the seeds of fuzz/corpus/onnx.

Usage: make_onnx.py SOURCE_TREE. Needs the onnx package; the files are kept in the tree, so only a change here asks for
another run.
"""
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import helper as h
from onnx import numpy_helper


def value(name, shape=None, kind=T.FLOAT):
    return h.make_tensor_value_info(name, kind, shape)


def stored(name, array):
    return numpy_helper.from_array(np.asarray(array), name)


def ints(name, *values):
    return h.make_tensor(name, T.INT64, [len(values)], values)


def model(nodes, inputs, outputs, initializers=(), opset=17, ir=8, imports=(), **graph):
    g = h.make_graph(nodes, graph.pop("graph_name", "g"), inputs, outputs, list(initializers), **graph)
    opsets = [h.make_opsetid("", opset)] + [h.make_opsetid(d, v) for d, v in imports]
    return h.make_model(g, opset_imports=opsets, ir_version=ir, producer_name="berth tests")


def simple(op, inputs, shape=(2, 3), initializers=(), outputs=("y",), **attributes):
    """One operation on inputs of one shape; names among the initializers are not model inputs."""
    have = {t.name for t in initializers}
    return model([h.make_node(op, list(inputs), list(outputs), name=op.lower(), **attributes)],
                 [value(i, list(shape)) for i in inputs if i and i not in have],
                 [h.make_empty_tensor_value_info(o) for o in outputs], initializers)


def captures():
    """If inside Loop inside the graph; captures of an input, an initializer and an operation; an inner x hides x."""
    inner_then = h.make_graph([h.make_node("Add", ["a", "w"], ["t0"]), h.make_node("Relu", ["t0"], ["t1"])],
                              "inner_then", [], [value("t1")])
    inner_else = h.make_graph([h.make_node("Neg", ["x"], ["e1"])], "inner_else", [], [value("e1")])
    body = h.make_graph(
        [h.make_node("Identity", ["cond_in"], ["cond_out"]),
         h.make_node("Abs", ["b"], ["x"]),
         h.make_node("If", ["cond_in"], ["r"], then_branch=inner_then, else_branch=inner_else),
         h.make_node("Add", ["r", "a"], ["s"])],
        "body", [value("it", [], T.INT64), value("cond_in", [], T.BOOL)], [value("cond_out", [], T.BOOL), value("s")])
    direct = h.make_graph([], "direct", [], [value("b")])
    return model(
        [h.make_node("Relu", ["x"], ["a"], name="relu"),
         h.make_node("Neg", ["a"], ["b"], name="neg"),
         h.make_node("Loop", ["m", "c"], ["scan"], name="loop", body=body),
         h.make_node("If", ["c"], ["y"], name="if", then_branch=direct, else_branch=direct),
         h.make_node("Add", ["y", "y"], ["z"], name="twice")],
        [value("x", [4]), value("c", [], T.BOOL)], [value("scan"), value("z")],
        [stored("w", np.ones(4, np.float32)), stored("m", np.int64(3))])


def typed_data():
    """Each element type in its typed list; some lists not packed."""
    rows = [("f32", T.FLOAT, [1.5, -2.0]), ("u8", T.UINT8, [0, 255]), ("i8", T.INT8, [-128, 127]),
            ("u16", T.UINT16, [1, 65535]), ("i16", T.INT16, [-2, 2]), ("i32", T.INT32, [-1, 2**31 - 1]),
            ("i64", T.INT64, [-1, 2**62]), ("bool", T.BOOL, [1, 0]), ("f16", T.FLOAT16, [1.0, 0.5]),
            ("f64", T.DOUBLE, [1e300, -0.0]), ("u32", T.UINT32, [0, 2**32 - 1]), ("u64", T.UINT64, [0, 2**64 - 1]),
            ("c64", T.COMPLEX64, [1 + 2j, 3 - 4j]), ("c128", T.COMPLEX128, [1j, 2]),
            ("bf16", T.BFLOAT16, [1.0, -3.0]), ("f8", T.FLOAT8E4M3FN, [1.0, 2.0]), ("u4", T.UINT4, [1, 15, 7]),
            ("i4", T.INT4, [-8, 7, 3]), ("text", T.STRING, [b"one", b""])]
    tensors = [h.make_tensor(name, kind, [len(v)], v) for name, kind, v in rows]
    tensors.append(h.make_tensor("empty", T.FLOAT, [0, 3], []))
    tensors.append(h.make_tensor("scalar", T.INT64, [], [7]))
    nodes = [h.make_node("Identity", [t.name], ["o_" + t.name], name="id_" + t.name) for t in tensors]
    m = model(nodes, [], [h.make_empty_tensor_value_info("o_f32")], tensors, opset=21, ir=10)
    data = m.SerializeToString()
    # int64_data [-1, 2^62] once more, one field per number.
    packed = bytes([0x3A, 19]) + b"\xff" * 9 + b"\x01" + b"\x80" * 8 + b"\x40"
    loose = b"\x38" + b"\xff" * 9 + b"\x01" + b"\x38" + b"\x80" * 8 + b"\x40"
    assert len(packed) == len(loose) == 21 and data.count(packed) == 1
    return data.replace(packed, loose)


def constants():
    nodes = [h.make_node("Constant", [], ["t"], value=stored("", np.arange(6, dtype=np.float32).reshape(2, 3))),
             h.make_node("Constant", [], ["i"], value_int=-5), h.make_node("Constant", [], ["is"], value_ints=[1, 2, 3]),
             h.make_node("Constant", [], ["f"], value_float=0.25),
             h.make_node("Constant", [], ["fs"], value_floats=[1.0, 2.0]),
             h.make_node("Constant", [], ["s"], value_string="text"),
             h.make_node("Constant", [], ["ss"], value_strings=["a", "bc"]),
             h.make_node("Constant", [], ["big"], value=stored("", np.zeros(300, np.float32)))]
    sparse = onnx.SparseTensorProto()
    sparse.values.CopyFrom(stored("", np.float32([1, 2])))
    sparse.indices.CopyFrom(stored("", np.int64([1, 5])))
    sparse.dims.extend([3, 4])
    nodes.append(h.make_node("Constant", [], ["sp"], sparse_value=sparse))
    return model(nodes, [], [h.make_empty_tensor_value_info(n.output[0]) for n in nodes])


def names():
    """Nodes without names, two of which must not get a name that is taken."""
    return model(
        [h.make_node("Relu", ["x"], ["a"]), h.make_node("Relu", ["a"], ["b"], name="Relu:c"),
         h.make_node("Relu", ["b"], ["c"]), h.make_node("Split", ["c"], ["", "d"], axis=0),
         h.make_node("Sink", ["d"], [], domain="test"), h.make_node("Neg", ["c"], ["e"], name="Neg:f#6"),
         h.make_node("Neg", ["e"], ["f"]), h.make_node("Neg", ["e"], ["g"], name="Neg:f")],
        [value("x", [2, 2])], [value("f")], imports=[("test", 1)])


def sparse_initializer():
    s = onnx.SparseTensorProto()
    s.values.CopyFrom(stored("w", np.float32([1, 2])))
    s.indices.CopyFrom(stored("", np.int64([0, 5])))
    s.dims.extend([2, 3])
    m = simple("Add", ["x", "w"], initializers=[])
    del m.graph.input[1]
    m.graph.sparse_initializer.append(s)
    return m


def function_call():
    m = model([h.make_node("Twice", ["x"], ["y"], name="call", domain="local")], [value("x", [2])], [value("y", [2])],
              imports=[("local", 1)])
    m.functions.append(h.make_function("local", "Twice", ["p"], ["q"], [h.make_node("Add", ["p", "p"], ["q"])],
                                       [h.make_opsetid("", 17)]))
    return m


def sequences():
    seq = h.make_tensor_sequence_value_info("s", T.FLOAT, None)
    opt = h.make_value_info("o", h.make_optional_type_proto(h.make_tensor_type_proto(T.FLOAT, [2])))
    return model([h.make_node("SequenceConstruct", ["x", "x"], ["s"], name="make"),
                  h.make_node("SequenceAt", ["s", "k"], ["y"], name="at"),
                  h.make_node("OptionalGetElement", ["o"], ["z"], name="get")],
                 [value("x", ["n", 3]), opt], [seq, value("y"), value("z")], [stored("k", np.int64(0))])


def external():
    t = stored("w", np.zeros((2, 3), np.float32))
    t.ClearField("raw_data")
    t.data_location = T.EXTERNAL
    e = t.external_data.add()
    e.key, e.value = "location", "nowhere.bin"
    return simple("Add", ["x", "w"], initializers=[t])


def shape_arithmetic():
    """Flatten written as shape arithmetic: Shape, Gather, Unsqueeze, Concat, Reshape."""
    return model(
        [h.make_node("Shape", ["x"], ["s"], name="shape"),
         h.make_node("Gather", ["s", "zero"], ["n"], name="gather", axis=0),
         h.make_node("Unsqueeze", ["n", "axes"], ["n1"], name="unsqueeze"),
         h.make_node("Concat", ["n1", "rest"], ["target"], name="concat", axis=0),
         h.make_node("Reshape", ["x", "target"], ["y"], name="reshape")],
        [value("x", ["batch", 4, 5])], [value("y", ["batch", 20])],
        [stored("zero", np.int64(0)), ints("axes", 0), ints("rest", -1)])


def cnn():
    f = np.zeros
    return model(
        [h.make_node("Conv", ["x", "w", "b"], ["c"], name="conv", pads=[1, 1, 1, 1], strides=[2, 2]),
         h.make_node("BatchNormalization", ["c", "s", "s", "s", "s"], ["n"], name="norm", epsilon=1e-3),
         h.make_node("Relu", ["n"], ["r"], name="relu"),
         h.make_node("MaxPool", ["r"], ["p"], name="pool", kernel_shape=[2, 2], strides=[2, 2]),
         h.make_node("GlobalAveragePool", ["p"], ["q"], name="mean"),
         h.make_node("Flatten", ["q"], ["fl"], name="flat"),
         h.make_node("Gemm", ["fl", "g", "gb"], ["y"], name="gemm", transB=1, alpha=0.5)],
        [value("x", [1, 3, 8, 8])], [value("y", [1, 5])],
        [stored("w", f((4, 3, 3, 3), np.float32)), stored("b", f(4, np.float32)), stored("s", f(4, np.float32)),
         stored("g", f((5, 4), np.float32)), stored("gb", f(5, np.float32))])


def training():
    m = simple("Relu", ["x"])
    info = m.training_info.add()
    info.algorithm.node.append(h.make_node("Relu", ["x"], ["u"]))
    m.metadata_props.add(key="k", value="v")
    return m


def reversed_fields():
    """Model and graph with their fields in reverse order."""
    m = simple("Add", ["x", "w"], initializers=[stored("w", np.ones((2, 3), np.float32))])

    def field(number, data):
        assert len(data) < 2**14
        size = bytes([len(data)]) if len(data) < 128 else bytes([len(data) & 127 | 128, len(data) >> 7])
        return bytes([number << 3 | 2]) + size + data

    g = m.graph
    graph = b"".join([field(12, v.SerializeToString()) for v in g.output] + [field(11, v.SerializeToString())
                     for v in g.input] + [field(5, t.SerializeToString()) for t in g.initializer] + [field(2, b"g")]
                     + [field(1, n.SerializeToString()) for n in g.node])
    return field(8, m.opset_import[0].SerializeToString()) + field(7, graph) + b"\x08\x08"


GOLDEN = {
    "captures": captures, "typed_data": typed_data, "constants": constants, "names": names,
    "sparse_initializer": sparse_initializer, "function_call": function_call, "sequences": sequences,
    "external": external, "reversed_fields": reversed_fields, "training": training,
    "shape_arithmetic": shape_arithmetic, "cnn": cnn,
}

SEEDS = {
    "matmul": lambda: model([h.make_node("MatMul", ["a", "b"], ["y"], name="m")],
                            [value("a", ["n", 4, 8]), value("b", [8, 2])], [value("y")]),
    "slice": lambda: simple("Slice", ["x", "s", "e", "a", "st"], (6, 8),
                            [ints("s", 0, 1), ints("e", 4, -1), ints("a", 0, 1), ints("st", 1, 2)]),
    "pad": lambda: simple("Pad", ["x", "p"], (2, 3), [ints("p", 0, 1, 0, 1)], mode="constant"),
    "expand": lambda: simple("Expand", ["x", "s"], (2, 1), [ints("s", 2, 7)]),
    "tile": lambda: simple("Tile", ["x", "s"], (2, 1), [ints("s", 2, 7)]),
    "resize": lambda: simple("Resize", ["x", "", "s"], (1, 1, 4, 4), [stored("s", np.float32([1, 1, 2, 2]))],
                             mode="nearest"),
    "transpose": lambda: simple("Transpose", ["x"], (2, 3, 4), perm=[2, 0, 1]),
    "concat": lambda: simple("Concat", ["x", "z"], (2, 3), axis=1),
    "split": lambda: simple("Split", ["x", "s"], (2, 6), [ints("s", 2, 4)], ("y", "z"), axis=1),
    "squeeze": lambda: simple("Squeeze", ["x", "a"], (1, 3, 1), [ints("a", 0, 2)]),
    "reduce": lambda: simple("ReduceMean", ["x"], (2, 3, 4), axes=[1, 2], keepdims=0),
    "softmax": lambda: simple("Softmax", ["x"], axis=-1),
    "cast": lambda: simple("Cast", ["x"], to=T.INT64),
    "constant_of_shape": lambda: simple("ConstantOfShape", ["s"], (), [ints("s", 2, 3)],
                                        value=stored("", np.int64([9]))),
    "range": lambda: simple("Range", ["a", "b", "c"], (), [stored("a", np.int64(0)), stored("b", np.int64(9)),
                                                           stored("c", np.int64(2))]),
    "where": lambda: simple("Where", ["c", "x", "z"], (2, 3), [stored("c", np.array([True, False, True]))]),
    "conv_transpose": lambda: simple("ConvTranspose", ["x", "w"], (1, 2, 4, 4),
                                     [stored("w", np.zeros((2, 3, 3, 3), np.float32))], strides=[2, 2]),
    "lstm": lambda: simple("LSTM", ["x", "w", "r"], (5, 1, 2),
                           [stored("w", np.zeros((1, 12, 2), np.float32)), stored("r", np.zeros((1, 12, 3), np.float32))],
                           ("y", "h", "c"), hidden_size=3),
    "quantize": lambda: simple("QuantizeLinear", ["x", "s", "z"], (2, 3),
                               [stored("s", np.float32(0.5)), stored("z", np.uint8(128))]),
    "layer_norm": lambda: simple("LayerNormalization", ["x", "s"], (2, 3), [stored("s", np.ones(3, np.float32))], axis=-1),
    "top_k": lambda: simple("TopK", ["x", "k"], (2, 9), [ints("k", 4)], ("v", "i")),
    "einsum": lambda: simple("Einsum", ["x", "z"], (3, 3), equation="ij,jk->ik"),
    "depth_to_space": lambda: simple("DepthToSpace", ["x"], (1, 8, 2, 2), blocksize=2),
    "non_zero": lambda: simple("NonZero", ["x"]),
    "contrib": lambda: model([h.make_node("Gelu", ["x"], ["y"], domain="com.microsoft")], [value("x", [2, 3])],
                             [value("y", [2, 3])], imports=[("com.microsoft", 1)]),
}


def main():
    tree = pathlib.Path(sys.argv[1])
    for folder, rows in (("tests/golden", GOLDEN), ("fuzz/corpus/onnx", {**GOLDEN, **SEEDS})):
        (tree / folder).mkdir(parents=True, exist_ok=True)
        for name, make in rows.items():
            made = make()
            data = made if isinstance(made, bytes) else made.SerializeToString(deterministic=True)
            assert len(data) < 4096, name
            (tree / folder / f"{name}.onnx").write_bytes(data)


main()
