# SPDX-License-Identifier: Apache-2.0
# What cannot be asked for: exit code 2, and a line that says what would do.
cd "$SOURCE"
try() {
    code=0
    echo "\$ berth $*" >&2
    "$BERTH" "$@" || code=$?
    test $code = 2
}
try place
try place tests/golden/cnn.onnx other.onnx
try place tests/golden/cnn.onnx --method magic
try place tests/golden/cnn.onnx --execution-model parallel
try place tests/golden/cnn.onnx --objective speed
try place tests/golden/cnn.onnx --group all
try place tests/golden/cnn.onnx --budget soon
try place tests/golden/cnn.onnx --budget 0s
try place tests/golden/cnn.onnx --budget -1s
try place tests/golden/cnn.onnx --evaluations 0
try place tests/golden/cnn.onnx --seed -1
try place tests/golden/cnn.onnx --piece-ms nan
try place tests/golden/cnn.onnx --devices cpu,tpu
try place tests/golden/cnn.onnx --devices ''
try place tests/golden/cnn.onnx --memory gpu
try place tests/golden/cnn.onnx --memory gpu=lots
try place tests/golden/cnn.onnx --memory tpu=1G
try place tests/golden/cnn.onnx --memory gpu=1G --memory cpu=2G --memory gpu=2G
try place tests/golden/cnn.onnx --io x=cpu --io x=gpu
try profile tests/golden/cnn.onnx --io x=cpu --io x=gpu
try measure tests/golden/cnn.onnx plan.json --input x=a.npy --input x=b.npy
try export tests/golden/cnn.onnx plan.json --to dot --provider gpu=cuda --provider gpu=webgpu
try place tests/golden/cnn.onnx --pin Conv
try place tests/golden/cnn.onnx --pin Conv=tpu
try place tests/golden/cnn.onnx --ban nothing=gpu
try place tests/golden/cnn.onnx --io nothing=gpu
try place tests/golden/cnn.onnx --together nothing
try place tests/golden/topcuoglu.csv --devices cpu,gpu
try place tests/golden/cnn.onnx --evaluate measured
try place tests/golden/cnn.onnx --runtime none --evaluate measured
try place tests/golden/cnn.onnx --evaluate often
for option in --rounds=2 --input=x=x.npy --synthesize-weights --precision=same --min-gain=3; do
    try place tests/golden/cnn.onnx "$option"
done
try place tests/golden/cnn.onnx --runtime none --rounds 2
try place tests/golden/cnn.onnx --execution-model queued --piece-ms 1
try train tests/golden/cnn.onnx -o policy.ckpt --execution-model queued --piece-ms 1
try measure tests/golden/cnn.onnx plan.json --runtime none
try profile tests/golden/cnn.onnx --runtime none
try simulate tests/golden/cnn.onnx
try simulate - -
try measure - -
try export - - --to dot
try train - tests/golden/cnn.onnx - -o policy.ckpt
try place tests/golden/cnn.onnx -o ''
try place tests/golden/cnn.onnx --output= --profile plan.json
try place tests/golden/cnn.onnx --policy ''
try bench --data ''
try devices one
try devices --show tpu
try bench everything
try bench --method magic
try bench --execution-model parallel
try bench --budget soon
try place tests/golden/cnn.onnx --method hsdag --set learning_rat=1
try place tests/golden/cnn.onnx --method hsdag --set learning_rate=fast
try place tests/golden/cnn.onnx --method heft --set learning_rate=1
try place tests/golden/cnn.onnx --method heft --policy policy.ckpt
try train -o policy.ckpt
try train tests/golden/cnn.onnx
try train tests/golden/cnn.onnx -o policy.ckpt --method heft
try train tests/golden/cnn.onnx -o policy.ckpt --generated rings:3
try train tests/golden/cnn.onnx -o policy.ckpt --generated layers
try train tests/golden/cnn.onnx -o policy.ckpt --generated layers:0
try train tests/golden/cnn.onnx -o policy.ckpt --execution-model parallel
try bench learn
try bench learn --results results.jsonl --part 3/2
try bench learn --results results.jsonl --arm nothing
