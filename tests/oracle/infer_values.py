# SPDX-License-Identifier: Apache-2.0
"""Random expressions over shapes and constants, whose values become the shape of a ConstantOfShape; see infer_ops.py."""
import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

OPSET = 17


class Chain:
    """Grows a graph; every value is a vector of int64, its present elements kept beside it."""

    def __init__(self, d):
        self.d, self.nodes, self.stored, self.n = d, [], [], 0
        self.shape = d.shape(1, 4, (1, 7))
        self.known = [not d.chance(0.2) for _ in self.shape]

    def name(self):
        self.n += 1
        return f"v{self.n}"

    def constant(self, values, dtype=np.int64):
        name = self.name()
        self.stored.append(numpy_helper.from_array(np.array(values, dtype=dtype), name))
        return name

    def add(self, kind, inputs, n_outputs=1, **attributes):
        outputs = [self.name() for _ in range(n_outputs)]
        self.nodes.append(helper.make_node(kind, inputs, outputs, **attributes))
        return outputs[0] if n_outputs == 1 else outputs

    def vector(self, depth):
        """Name and length of a vector of int64."""
        d = self.d
        if depth == 0:
            if d.chance(0.6):
                return self.add("Shape", ["x"]), len(self.shape)
            values = [d.int(-3, 9) for _ in range(d.int(1, 4))]
            return self.constant(values), len(values)
        return d.pick([self.gather, self.slice, self.concat, self.binary, self.unary, self.compare, self.through_float,
                       self.reduce, self.reshape, self.range, self.split, self.tile, self.fill, self.transpose,
                       self.scatter, self.nonzero])(depth - 1)

    def gather(self, depth):
        a, n = self.vector(depth)
        indices = [self.d.int(-n, n - 1) for _ in range(self.d.int(1, 3))]
        return self.add("Gather", [a, self.constant(indices)], axis=0), len(indices)

    def slice(self, depth):
        a, n = self.vector(depth)
        step = self.d.pick([1, 1, -1, 2])
        start = self.d.int(0, n - 1)
        end = self.d.int(start + 1, n) if step > 0 else (start - n - 1 if self.d.chance() else -(2**63))
        count = len(range(n)[slice(start, end if end > -(2**62) else None, step)])
        if count == 0:
            return a, n
        return self.add("Slice", [a, *(self.constant([v]) for v in (start, end, 0, step))]), count

    def concat(self, depth):
        parts = [self.vector(depth) for _ in range(self.d.int(2, 3))]
        return self.add("Concat", [p for p, _ in parts], axis=0), sum(n for _, n in parts)

    def operand(self, depth, n):
        """A vector that goes with one of n elements."""
        if self.d.chance(0.5):
            return self.constant(self.d.int(-4, 5))
        b, m = self.vector(depth)
        if m != n:
            b = self.add("Gather", [b, self.constant([self.d.int(0, m - 1)])])
        return b

    def binary(self, depth):
        a, n = self.vector(depth)
        b = self.operand(depth, n)
        kind = self.d.pick(["Add", "Sub", "Mul", "Div", "Mod", "Min", "Max", "Pow"])
        if kind in ("Div", "Mod"):  # not by zero
            b = self.add("Max", [b, self.constant(1)])
            if self.d.chance():
                b = self.add("Neg", [b])
        if kind == "Pow":
            b = self.constant(self.d.int(0, 3))
        return self.add(kind, [a, b]), n

    def unary(self, depth):
        a, n = self.vector(depth)
        return self.add(self.d.pick(["Neg", "Abs", "Sign", "Identity"]), [a]), n

    def compare(self, depth):
        a, n = self.vector(depth)
        kind = self.d.pick(["Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual"])
        condition = self.add(kind, [a, self.operand(0, n)])
        if self.d.chance(0.3):
            condition = self.add("Not", [condition])
        if self.d.chance(0.3):
            other = self.add("Less", [a, self.constant(3)])
            condition = self.add(self.d.pick(["And", "Or"]), [condition, other])
        if self.d.chance(0.3):
            return self.add("Cast", [condition], to=T.INT64), n
        return self.add("Where", [condition, a, self.operand(depth, n)]), n

    def through_float(self, depth):
        a, n = self.vector(depth)
        f = self.add("Cast", [a], to=self.d.pick([T.FLOAT, T.DOUBLE]))
        like = self.add("CastLike", [self.constant(self.d.pick([0.5, 1.5, 2.25, 0.1, 3]), np.float32), f])
        f = self.add(self.d.pick(["Mul", "Div", "Add", "Sub", "Max"]), [f, like])
        f = self.add(self.d.pick(["Floor", "Ceil", "Round", "Identity", "Abs", "Neg"]), [f])
        return self.add("Cast", [f], to=T.INT64), n

    def reduce(self, depth):
        a, _ = self.vector(depth)
        kind = self.d.pick(["ReduceProd", "ReduceMax", "ReduceMin"])
        if self.d.chance(0.3):
            return self.add("ReduceSum", [a, self.constant([0])], keepdims=1), 1
        return self.add(kind, [a], axes=[0], keepdims=1), 1

    def reshape(self, depth):
        a, n = self.vector(depth)
        m = self.add("Reshape", [a, self.constant([-1, 1])])
        m = self.add("Unsqueeze", [m, self.constant([0])])
        m = self.add("Squeeze", [m, self.constant([-1])])
        return self.add("Reshape", [m, self.constant([n])]), n

    def range(self, depth):
        a, _ = self.vector(depth)
        one = self.add("Gather", [a, self.constant(0)])
        # From any number to three steps further.
        end = self.add("Add", [one, self.constant(3 * 2)])
        return self.add("Range", [one, end, self.constant(2)]), 3

    def split(self, depth):
        a, n = self.vector(depth)
        if n < 2:
            return a, n
        first = self.d.int(1, n - 1)
        parts = self.add("Split", [a, self.constant([first, n - first])], 2, axis=0)
        return parts[1], n - first

    def tile(self, depth):
        a, n = self.vector(depth)
        if self.d.chance():
            return self.add("Tile", [a, self.constant([2])]), 2 * n
        one = self.add("Gather", [a, self.constant([0])])
        return self.add("Expand", [one, self.constant([3])]), 3

    def fill(self, depth):
        a, n = self.vector(depth)
        value = helper.make_tensor("value", T.INT64, [1], [self.d.int(-2, 4)])
        ones = self.add("ConstantOfShape", [self.add("Shape", [a])], value=value)
        return self.add("Mul", [a, ones]), n

    def transpose(self, depth):
        """What exporters do to the pads of Pad: reverse the rows of pairs."""
        a, n = self.vector(depth)
        pairs = self.add("Reshape", [self.add("Concat", [a, a], axis=0), self.constant([-1, 2])])
        pairs = self.add("Slice", [pairs, *(self.constant([v]) for v in (-1, -(2**63), 0, -1))])
        return self.add("Reshape", [self.add("Transpose", [pairs], perm=[1, 0]), self.constant([-1])]), 2 * n

    def scatter(self, depth):
        a, n = self.vector(depth)
        at = self.constant([self.d.int(-n, n - 1)])
        return self.add("ScatterElements", [a, at, self.constant([self.d.int(1, 5)])], axis=0), n

    def nonzero(self, depth):
        a, n = self.vector(depth)
        ones = self.add("ConstantOfShape", [self.add("Shape", [a])],
                        value=helper.make_tensor("value", T.INT64, [1], [1]))
        found = self.add("NonZero", [ones])
        return self.add("Squeeze", [found, self.constant([0])]), n


def draw_chain(d):
    chain = Chain(d)
    vector, n = chain.vector(d.int(1, 4))
    # Sizes of 0 to 12, whatever the values are; small tensors, so that the judge can make them.
    first = chain.add("Slice", [vector, chain.constant([0]), chain.constant([6])])
    small = chain.add("Mod", [first, chain.constant(13)])
    chain.nodes.append(helper.make_node("ConstantOfShape", [small], ["y"]))
    shape = [s if known else f"s{i}" for i, (s, known) in enumerate(zip(chain.shape, chain.known))]
    graph = helper.make_graph(chain.nodes, "chain", [helper.make_tensor_value_info("x", T.FLOAT, shape)],
                              [onnx.ValueInfoProto(name="y")], chain.stored)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)
    model.metadata_props.add(key="shape", value=",".join(map(str, chain.shape)))
    return model


def judge(chains, found, problems, counts):
    for model, ours in zip(chains, found, strict=True):
        shape = [int(v) for v in model.metadata_props[0].value.split(",")]
        try:
            with np.errstate(all="ignore"):
                small = model.graph.node[-1].input[0]
                graph = onnx.ModelProto()
                graph.CopyFrom(model)
                del graph.graph.node[-1], graph.graph.output[:]
                graph.graph.output.append(onnx.ValueInfoProto(name=small))
                real = ReferenceEvaluator(graph).run(None, {"x": np.zeros(shape, dtype=np.float32)})[0].tolist()
        except Exception as error:
            counts[f"chains that the judge cannot run: {type(error).__name__}"] += 1
            continue
        text = "; ".join(f"{n.op_type}({', '.join(n.input)})" for n in model.graph.node)
        if isinstance(ours, str):
            problems.append(f"chain {text}: refused: {ours}")
            continue
        mine = ours["y"][1]
        all_known = all(not d.dim_param for d in model.graph.input[0].type.tensor_type.shape.dim)
        counts["chains"] += 1
        counts["chains known in full"] += mine is not None and None not in mine
        if mine is None and not all_known:
            continue
        if mine is None or len(mine) != len(real) or any(m not in (None, r) for m, r in zip(mine, real)):
            problems.append(f"chain {text}: {mine} instead of {real}")
        elif all_known and None in mine:
            problems.append(f"chain {text}: {mine} instead of {real}")
