# SPDX-License-Identifier: Apache-2.0
# The summary of one model of each kind.
cd "$SOURCE"
"$BERTH" inspect models/resnet50.onnx
echo
"$BERTH" inspect models/ir/bert_base.xml
