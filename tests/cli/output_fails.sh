# SPDX-License-Identifier: Apache-2.0
# What cannot be written is never a success.
model=$SOURCE/models/ir/resnet50.xml
try() {
    code=0
    "$@" || code=$?
    echo "exit $code" >&2
}
full() { "$BERTH" "$@" >/dev/full; }
closed() { "$BERTH" "$@" >&-; }
try full inspect "$model"
try full help
try full version
try closed inspect "$model"
try "$BERTH" inspect "$model" -o missing/result
mkdir folder
try "$BERTH" inspect "$model" -o folder
try "$BERTH" inspect "$model" -o /dev/full
test "$(ls -A)" = folder
