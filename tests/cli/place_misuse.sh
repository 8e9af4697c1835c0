# SPDX-License-Identifier: Apache-2.0
# What cannot be asked for: exit code 2, and a line that says what would do.
cd "$SOURCE"
try() {
    code=0
    echo "\$ berth $*" >&2
    "$BERTH" "$@" || code=$?
    test $code = 2
}
try place
try place tests/golden/cnn.onnx other.onnx
try place tests/golden/cnn.onnx --method magic
try place tests/golden/cnn.onnx --execution-model parallel
try place tests/golden/cnn.onnx --objective speed
try place tests/golden/cnn.onnx --group all
try place tests/golden/cnn.onnx --budget soon
try place tests/golden/cnn.onnx --budget 0s
try place tests/golden/cnn.onnx --budget -1s
try place tests/golden/cnn.onnx --evaluations 0
try place tests/golden/cnn.onnx --seed -1
try place tests/golden/cnn.onnx --piece-ms nan
try place tests/golden/cnn.onnx --devices cpu,tpu
try place tests/golden/cnn.onnx --devices ''
try place tests/golden/cnn.onnx --memory gpu
try place tests/golden/cnn.onnx --memory gpu=lots
try place tests/golden/cnn.onnx --memory tpu=1G
try place tests/golden/cnn.onnx --pin Conv
try place tests/golden/cnn.onnx --pin Conv=tpu
try place tests/golden/cnn.onnx --ban nothing=gpu
try place tests/golden/cnn.onnx --io nothing=gpu
try place tests/golden/cnn.onnx --together nothing
try place tests/golden/topcuoglu.csv --devices cpu,gpu
try simulate tests/golden/cnn.onnx
try devices one
try devices --show tpu
try bench everything
try bench --method magic
try bench --execution-model parallel
try bench --budget soon
