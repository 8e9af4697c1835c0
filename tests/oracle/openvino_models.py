# SPDX-License-Identifier: Apache-2.0
"""Small models for OpenVINO that are hard to place: two branches of matrix products, with names that repeat ("twice"),
hold commas and are not ASCII; with shapes that are computed; with an open dimension ("open")."""

import numpy


def build(ov, shape, kind):
    ops, numbers = ov.opset13, numpy.random.default_rng(5)
    x = ops.parameter(shape, numpy.float32, name="x")
    x.output(0).set_names({"x"})

    def layer(value, name):
        weight = ops.constant(numbers.standard_normal((16, 16)).astype(numpy.float32) * 0.2)
        made = ops.relu(ops.matmul(value, weight, False, False))
        made.input_value(0).get_node().set_friendly_name(name)
        made.set_friendly_name(name if kind == "twice" else name + ", then relu")
        made.output(0).set_names({f"{name} out", f"z {name}"})
        return made

    left, right = x, x
    for i in range(4):
        left, right = layer(left, f"left,{i}"), layer(right, f"größe \"{i}\" \\ ??/")
    joined = ops.add(left, right)
    flat = ops.reshape(joined, ops.concat([ops.constant(numpy.array([-1], numpy.int64)),
                                           ops.gather(ops.shape_of(x), ops.constant(numpy.array([1], numpy.int64)),
                                                      ops.constant(numpy.array(0, numpy.int64)))], 0), False)
    return ov.Model([ops.result(ops.softmax(flat, 1)), ops.result(left)], [x], kind)


def save(ov, folder, kind, shape):
    path = folder / f"{kind}.xml"
    ov.save_model(build(ov, shape, kind), path, compress_to_fp16=False)
    return path
