# SPDX-License-Identifier: Apache-2.0
# External data go with the model, are never overwritten by others, and never lie outside the model's folder.
"$BERTH" place -q "$SOURCE/models/resnet50.onnx" --devices cpu,gpu -o plan.json >/dev/null
mkdir model out other outside
cp "$SOURCE/models/resnet50.onnx" model/
export_to() {
    code=0
    "$BERTH" export model/resnet50.onnx plan.json --to onnx --provider gpu=cuda "$@" || code=$?
    echo "exit $code" >&2
}
echo "# missing" >&2
export_to -o out/a.onnx
ls -A out
echo "# linked" >&2
echo weights >model/weights.bin
export_to -o out/a.onnx
test model/weights.bin -ef out/weights.bin
echo "# into the same folder" >&2
export_to -o model/b.onnx
echo "# another file of that name" >&2
echo other >other/weights.bin
export_to -o other/a.onnx
ls -A other
cat other/weights.bin
echo "# one of the same content" >&2
echo weights >other/weights.bin
export_to -o other/a.onnx
test ! model/weights.bin -ef other/weights.bin
echo "# forced" >&2
echo other >other/weights.bin
export_to -o other/a.onnx --force
cat other/weights.bin
echo "# over the weights" >&2
export_to -o model/weights.bin --force
cat model/weights.bin
echo "# a link out of the folder" >&2
mv model/weights.bin outside/
ln -s ../outside/weights.bin model/weights.bin
export_to -o other/c.onnx
ls -A other
