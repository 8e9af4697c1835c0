# SPDX-License-Identifier: Apache-2.0
# Keys and values, byte for byte; tests/oracle/inspect_json.py checks them against other readers.
"$BERTH" inspect --json "$SOURCE/models/ir/resnet50.xml"
