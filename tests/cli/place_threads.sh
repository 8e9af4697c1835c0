# SPDX-License-Identifier: Apache-2.0
# With a budget in evaluations alone the plan is the same on any number of threads, byte for byte, and in every run.
cd "$SOURCE"
work=$OLDPWD
try() {
    "$BERTH" place "$@" --evaluations 400 --threads 1 -o "$work/one.json" >/dev/null
    for threads in 2 3 4 1; do
        "$BERTH" place "$@" --evaluations 400 --threads $threads -o "$work/many.json" >/dev/null
        cmp "$work/one.json" "$work/many.json"
    done
}
for model in serial queued concurrent contiguous; do
    try models/googlenet.onnx --devices cpu,gpu,igpu,npu --execution-model $model --seed 3
done
try models/ir/resnet50.xml --devices paper --execution-model concurrent --group code
try models/mobilenet_v3_large.onnx --devices cpu,gpu --execution-model queued --memory gpu=8M --method anneal
try tests/golden/topcuoglu.csv
