# SPDX-License-Identifier: Apache-2.0
# The answer in words. What differs from run to run is not in it.
cd "$SOURCE"
"$BERTH" place models/mobilenet_v3_large.onnx --devices cpu,igpu,npu
"$BERTH" place tests/golden/topcuoglu.csv --method heft
"$BERTH" place tests/golden/topcuoglu.csv --method single
