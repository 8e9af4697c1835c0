# SPDX-License-Identifier: Apache-2.0
# Exports of a plan: what they hold, and what is refused.
model=$SOURCE/tests/golden/cnn.onnx
"$BERTH" place "$model" --devices cpu,gpu --execution-model queued --pin Conv=gpu --pin Relu=cpu -o plan.json >/dev/null
echo "# json"
"$BERTH" export "$model" plan.json --to json
echo "# dot"
"$BERTH" export "$model" plan.json --to dot -o plan.dot
sed -n 1,12p plan.dot
grep -c penwidth plan.dot
echo "# onnx"
mkdir out
"$BERTH" export "$model" plan.json --to onnx -o out/placed.onnx --provider gpu=webgpu
ls -A out
cat out/placed.onnx.berth.json out/placed.onnx.py out/placed.onnx.c
"$BERTH" inspect "$model" --json | grep fingerprint >before
"$BERTH" inspect out/placed.onnx --json | grep fingerprint | cmp - before
echo "# the plan fits what it was exported to, and exporting that again gives the same"
"$BERTH" simulate out/placed.onnx plan.json --json | grep makespan
"$BERTH" export -q out/placed.onnx plan.json --to onnx -o again.onnx --provider gpu=webgpu
cmp out/placed.onnx again.onnx
echo "# from standard input, and packed"
"$BERTH" export - plan.json --to onnx -o again.onnx --provider gpu=webgpu <"$model"
cmp out/placed.onnx again.onnx
gzip -c "$model" >packed.onnx.gz
"$BERTH" export packed.onnx.gz plan.json --to onnx -o again.onnx --provider gpu=webgpu
cmp out/placed.onnx again.onnx
