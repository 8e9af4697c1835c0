# SPDX-License-Identifier: Apache-2.0
# Every method on a workload that is always there, as a table and as JSON; and a folder that is not.
"$BERTH" bench --workload topcuoglu --evaluations 300
"$BERTH" bench --workload topcuoglu --evaluations 300 --method heft --method exact --json
"$BERTH" bench --workload example-1 --data ./nowhere --evaluations 10 --method heft
