# SPDX-License-Identifier: Apache-2.0
# The settings of learned methods and their defaults.
"$BERTH" help settings
