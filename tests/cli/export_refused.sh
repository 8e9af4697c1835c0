# SPDX-License-Identifier: Apache-2.0
# What cannot be exported: one line, the right exit code, and nothing is left behind.
model=$SOURCE/tests/golden/cnn.onnx
cp "$model" model.onnx
"$BERTH" place model.onnx --devices cpu,gpu --execution-model queued --pin Conv=gpu -o plan.json >/dev/null
"$BERTH" place model.onnx --devices cpu,gpu,npu --pin Conv=gpu --pin Relu=npu -o three.json >/dev/null
cp "$SOURCE/tests/golden/if.xml" .
"$BERTH" place -q if.xml --devices cpu,gpu -o ir.json >/dev/null
ls -A >before
try() {
    code=0
    "$BERTH" "$@" || code=$?
    echo "exit $code" >&2
}
echo "# usage" >&2
try export model.onnx plan.json
try export model.onnx plan.json --to onx
try export model.onnx plan.json --to zip
try export model.onnx plan.json --to onnx
try export model.onnx plan.json --to onnx -o -
try export model.onnx plan.json --to onnx -o out.onnx --provider gpu
try export model.onnx plan.json --to onnx -o out.onnx --provider cuda=cuda
try export model.onnx plan.json --to onnx -o out.onnx --provider 'gpu=x;y'
try export model.onnx plan.json --to onnx -o model.onnx
echo "# more than one accelerator" >&2
try export model.onnx three.json --to onnx -o out.onnx
echo "# other models" >&2
try export "$SOURCE/models/resnet50.onnx" plan.json --to json
try export if.xml ir.json --to onnx -o out.onnx
try export none.onnx plan.json --to json
try export model.onnx none.json --to json
echo "# places that cannot be written" >&2
try export model.onnx plan.json --to onnx -o none/out.onnx
try export model.onnx plan.json --to onnx -o /dev/null
try export model.onnx plan.json --to json -o /dev/full
# What a full disk does: no file may grow beyond 512 bytes. Counts of a coverage build would be cut short, so they go
# nowhere.
full() {
    export GCOV_PREFIX=/dev/null
    trap '' XFSZ
    ulimit -f 1
    try export -q model.onnx plan.json --to onnx -o out.onnx
    try export -q model.onnx plan.json --to dot -o out.dot
}
(full) 2>&1 | cat >&2
ls -A | cmp - before
