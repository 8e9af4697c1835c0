# SPDX-License-Identifier: Apache-2.0
# Every method on a workload that is always there, as a table and as JSON; and folders that are not:
# each missing file is told once, and that nothing was there is bad input.
"$BERTH" bench --workload topcuoglu --evaluations 300
"$BERTH" bench --workload topcuoglu --evaluations 300 --method heft --method exact --json
try() {
    code=0
    "$BERTH" bench "$@" || code=$?
    echo "exit $code"
}
try --workload example-1 --data ./nowhere --evaluations 10 --method heft
try --data ./nowhere --evaluations 10 --method heft -q
try models --models ./nowhere --method heft
cd "$SOURCE"
try all --workload resnet50.onnx --workload fft_8 --devices cpu,gpu --execution-model serial --data ./nowhere --evaluations 10 --method heft
