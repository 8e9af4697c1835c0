# SPDX-License-Identifier: Apache-2.0
# -q and -v change what is said on standard error, never the result.
model=$SOURCE/models/ir/resnet50.xml
"$BERTH" inspect "$model" >plain
"$BERTH" inspect -q "$model" | cmp - plain
"$BERTH" inspect -v "$model" 2>/dev/null | cmp - plain
NO_COLOR=1 "$BERTH" inspect "$model" | cmp - plain
