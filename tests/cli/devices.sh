# SPDX-License-Identifier: Apache-2.0
# Profiles as a table, as JSON, and as a file that can be used.
"$BERTH" devices --runtime none
"$BERTH" devices --runtime none --json | head -20
"$BERTH" devices --show cpu,npu >mine.json
"$BERTH" place "$SOURCE/tests/golden/cnn.onnx" --devices ./mine.json --method fastest | head -3 | grep -v '^model'
