# SPDX-License-Identifier: Apache-2.0
# -h fits a screen; --help has all.
"$BERTH" inspect -h
test "$("$BERTH" inspect -h | wc -l)" -le 24
"$BERTH" inspect --help
