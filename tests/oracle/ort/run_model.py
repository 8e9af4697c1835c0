# SPDX-License-Identifier: Apache-2.0
"""run_model.py LOADER INPUT PREFIX: opens a model with the Python loader that was exported beside it, runs it on the
array in the file INPUT (.npy), and writes output i to PREFIXi.npy. Prints the name of the profile that ONNX Runtime has
written, which is turned on where the loader makes its options, and the version. Needs onnxruntime-webgpu and numpy.
"""

import runpy
import sys

import numpy
import onnxruntime

LOADER, INPUT, PREFIX = sys.argv[1:]
make_options = onnxruntime.SessionOptions


def profiled():
    options = make_options()
    options.enable_profiling, options.profile_file_prefix, options.log_severity_level = True, PREFIX, 3
    return options


onnxruntime.SessionOptions = profiled
session = runpy.run_path(LOADER)["session"]
for i, value in enumerate(session.run(None, {session.get_inputs()[0].name: numpy.load(INPUT)})):
    numpy.save(f"{PREFIX}{i}.npy", value)
print(session.end_profiling())
print(onnxruntime.__version__)
