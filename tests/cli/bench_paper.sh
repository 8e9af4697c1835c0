# SPDX-License-Identifier: Apache-2.0
# The paper's protocol on its testbed: that it says it is simulated, its rows, and rows that do not exist.
"$BERTH" bench paper -q --models "$SOURCE/models" -w resnet --arm CPU-only --arm GPU-only --arm min-cut
"$BERTH" bench paper -q --models "$SOURCE/models" -w resnet --arm GPU-only --json | grep -E '"(simulated|method)"' |
    sed 's/predicted_ms.*//'
"$BERTH" bench paper -q --models "$SOURCE/models" --arm nobody 2>&1 || echo "exit $?"
