/* SPDX-License-Identifier: Apache-2.0 */
/* What shape inference refuses, and what it must bear: one operation per row, with the words of the refusal, or with
 * the shape of the output where too little is known to refuse. */
#include "infer_fixture.h"

#define BIG 9223372036854775807

typedef struct row {
    const char *type;
    /* Inputs, separated by ';': a shape, "!" no rank, "-" left out, "#1,2" stored integers, "~0.5" stored reals, "=4" a
     * stored integer scalar. */
    const char *inputs;
    const char *says; /* words of the refusal, or the shape of the output after ':' (":!" no rank) */
    berth_attribute attributes[4];
    int64_t opset;      /* 0: 17 */
    const char *domain; /* NULL: the default */
    int outputs;        /* 0: 1 */
} row;

static const row rows[] = {
    /* shapes that do not go together */
    {"Add", "2,3;2,4", .says = "Add 'Add': 2x3 and 2x4 do not broadcast", .opset = 17},
    {"Where", "2;3;1", .says = "do not broadcast", .opset = 17},
    {"PRelu", "2,3;1,1,3", .says = "input 1 does not broadcast to input 0"},
    {"PRelu", "2,1;4", .says = "input 1 does not broadcast to input 0"},
    {"MatMul", "2,3;4,5", .says = "the inner dimensions of 2x3 and 4x5 differ"},
    {"MatMul", ";4,5", .says = "an input is a scalar"},
    {"MatMul", "7,2,3;8,3,4", .says = "7 and 8 do not broadcast"},
    {"Gemm", "2,3;4,5", .says = "the inner dimensions of 2x3 and 4x5 differ"},
    {"Gemm", "2,3,4;4,5", .says = "input 0 has 3 dimensions instead of 2"},
    {"MatMulNBits",
     "2,7",
     .says = "the last dimension is 7, 'K' is 8",
     {INT("K", 8), INT("N", 4)},
     .domain = "com.microsoft"},
    {"MatMulNBits", "2,7", .says = "'K' or 'N' is missing or negative", {INT("K", 8)}, .domain = "com.microsoft"},
    {"Det", "2,3", .says = "the matrices of 2x3 are not square"},
    {"Concat", "2,3;2,4", .says = "2x3 and 2x4 do not join along axis 0", {INT("axis", 0)}},
    {"Concat", "2,3;2", .says = "2x3 and 2 do not join along axis 1", {INT("axis", 1)}},
    {"Concat", "2,3", .says = "'axis' is missing"},
    {"Concat", "2,3;!", .says = ":!", {INT("axis", 0)}},
    {"Concat", "9223372036854775807,3;1,3", .says = "multiply beyond 64 bits", {INT("axis", 0)}},
    {"BatchNormalization", "1,3,4;3;3;5;3", .says = "3 channels, but input 3 has 5"},
    {"BatchNormalization", "1,3,4;3,4;3,4;3,4;3,4", .says = ":1,3,4", {INT("spatial", 0)}, .opset = 7},
    {"GatherElements", "2,3;2", .says = "indices of 1 dimensions for data of 2"},
    {"GatherND", "2,3;4,3", .says = "indices of 3 for data of 2 dimensions, 0 of them batches"},
    {"GatherND", "2,3;4,1", .says = "4 of them batches", {INT("batch_dims", 4)}},
    {"GridSample", "1,2,3,4;1,2,3", .says = "a grid of 3 dimensions for data of 4"},
    {"GridSample", "!;1,5,6,2", .says = ":1,?,5,6"},
    {"TopK", "2,3;#7", .says = "the first 7 of 3"},
    {"TopK", "2,3;#-1", .says = "k is -1"},
    {"TopK", "2,3;1", .says = ":2,?"},
    /* windows */
    {"Conv", "1,4,5,5;8,3,3,3", .says = "weights of 8x3x3x3 in 1 groups do not go with data of 1x4x5x5"},
    {"Conv", "1,4,5,5;8,4,3", .says = "weights of 8x4x3 for data of 1x4x5x5"},
    {"Conv", "1,4,5,5;9,2,3,3", .says = "9 channels in 2 groups", {INT("group", 2)}},
    {"Conv", "1,4,5,5;8,4,3,3", .says = "'group' is 0", {INT("group", 0)}},
    {"Conv", "1,4,5,5;8,4,3,3", .says = "'strides' has the entry 0", {INTS("strides", 2, 1, 0)}},
    {"Conv", "1,4,5,5;8,4,3,3", .says = "'pads' has the entry -1", {INTS("pads", 4, 0, 0, -1, 0)}},
    {"Conv", "1,4,5,5;8,4,3,3", .says = "'dilations' has 1 entries instead of 2", {INTS("dilations", 1, 1)}},
    {"Conv",
     "1,4,5,5;8,4,3,3",
     .says = "'kernel_shape' has 2 where the weights have 3",
     {INTS("kernel_shape", 2, 2, 3)}},
    {"Conv", "1,4,5,5;8,4,0,3", .says = "the kernel is empty"},
    {"Conv", "1,4,5,5;8,4,3,3", .says = "'auto_pad' is none of", {TEXT("auto_pad", "SAME")}},
    {"Conv", "1,4,2,5;8,4,3,3", .says = "a window of 3 does not fit into 2"},
    {"Conv", "1,4,5,5;8,4,3,3", .says = "multiply beyond 64 bits", {INTS("pads", 4, BIG, 0, 0, 0)}},
    {"Conv", "1,4,5,5;8,4,3,3", .says = "multiply beyond 64 bits", {INTS("dilations", 2, BIG, 1)}},
    {"Conv", "1,4,n,5;8,4,3,3", .says = "multiply beyond 64 bits", {INTS("pads", 4, BIG, 0, BIG, 0)}},
    {"Conv", "1,4,5,5;8,4,3,3", .says = "multiply beyond 64 bits", {INT("group", BIG)}},
    {"Conv", "!;8,4,3,3", .says = ":?,8,?,?"},
    {"Conv", "!;!", .says = ":!"},
    {"Conv", "1,4,5,5;!", .says = ":1,?,?,?"},
    {"ConvTranspose", "1,4,5;3,4,2", .says = "weights of 3x4x2 for data of 1x4x5"},
    {"ConvTranspose",
     "1,4,5;4,4,2",
     .says = "'output_shape' has 4 entries instead of 1",
     {INTS("output_shape", 4, 1, 2, 3, 4)}},
    {"ConvTranspose", "1,4,5;4,4,2", .says = "instead of 1", {INTS("output_padding", 2, 1, 1)}},
    {"ConvTranspose", "1,4,5;4,4,2", .says = "has a negative entry", {INTS("output_padding", 1, -1)}},
    {"ConvTranspose", "1,4,5;4,4,2", .says = "the output would have size -4", {INTS("pads", 2, 5, 5)}},
    {"ConvTranspose", "1,4,5;4,4,2", .says = "multiply beyond 64 bits", {INTS("strides", 1, BIG)}},
    {"ConvTranspose", "1,4,n;4,4,2", .says = ":1,4,9", {INTS("output_shape", 3, 1, 4, 9)}},
    {"ConvTranspose", "1,4,n;4,4,2", .says = ":1,4,?"},
    {"ConvTranspose", "!;4,4,2", .says = ":!"},
    {"MaxPool", "1,4,5,5", .says = "'kernel_shape' has 0 entries"},
    {"MaxPool", "1,4,5,5", .says = "4 dimensions for a kernel of 1", {INTS("kernel_shape", 1, 2)}},
    {"MaxPool", "!", .says = ":?,?,?", {INTS("kernel_shape", 1, 2)}},
    {"GlobalAveragePool", "5", .says = "input 0 has 1 dimensions, which is not within 2 .. 64"},
    {"MaxUnpool", "1,1,2,2;1,1,2,2", .says = "'kernel_shape' is missing"},
    {"MaxUnpool",
     "1,1,2,2;1,1,2,2;#1,1,4",
     .says = "'output_shape' has 3 entries instead of 4",
     {INTS("kernel_shape", 2, 2, 2)}},
    {"MaxUnpool", "1,1,2,2;1,1,2,2;#1,1,4,-4", .says = "has the entry -4", {INTS("kernel_shape", 2, 2, 2)}},
    {"MaxUnpool",
     "1,1,2,2;1,1,2,2",
     .says = "-4 elements",
     {INTS("kernel_shape", 2, 2, 2), INTS("pads", 4, 7, 0, 0, 0)}},
    {"MaxUnpool",
     "1,1,2,2;1,1,2,2",
     .says = "beyond 64 bits",
     {INTS("kernel_shape", 2, 2, 2), INTS("strides", 2, BIG, 1)}},
    {"MaxUnpool", "1,1,2,2;1,1,2,2;4", .says = ":?,?,?,?", {INTS("kernel_shape", 2, 2, 2)}},
    {"MaxUnpool", "!;1,1,2,2", .says = ":!", {INTS("kernel_shape", 2, 2, 2)}},
    {"MaxRoiPool", "1,2,8,8;3,5", .says = "'pooled_shape' has 1 entries instead of 2", {INTS("pooled_shape", 1, 2)}},
    {"RoiAlign", "1,2,8,8;3,4;3", .says = "an output of 0x1", {INT("output_height", 0)}},
    /* axes */
    {"Softmax", "2,3", .says = "axis 5 of 2 dimensions", {INT("axis", 5)}},
    {"ArgMax", "2,3", .says = "axis 2 of 2 dimensions", {INT("axis", 2)}},
    {"ReduceMean", "2,3", .says = "axis -3 of 2 dimensions", {INTS("axes", 1, -3)}},
    {"ReduceSum", "2,3;3", .says = "3 axes of 2 dimensions"},
    {"ReduceSum", "2,3;1", .says = ":?,?"},
    {"ReduceSum", "2,3;1", .says = ":?", {INT("keepdims", 0)}},
    {"ReduceSum", "2,3;n", .says = ":!", {INT("keepdims", 0)}},
    {"ReduceSum", "!", .says = ":", {INT("keepdims", 0)}},
    {"ReduceSum", "!", .says = ":!"},
    {"Flatten", "2,3", .says = "axis 3 of 2 dimensions", {INT("axis", 3)}},
    {"Flatten", "4611686018427387904,4,1", .says = "beyond 64 bits", {INT("axis", 2)}},
    {"Flatten", "!", .says = ":?,?"},
    {"Squeeze", "1,3;#1", .says = "dimension 1 is 3"},
    {"Squeeze", "1,n", .says = ":!"},
    {"Squeeze", "1,3;1", .says = ":?"},
    {"Squeeze", "1,3;4", .says = "4 axes of 2 dimensions"},
    {"Squeeze", "!;#0", .says = ":!"},
    {"Unsqueeze", "2", .says = "'axes' is missing"},
    {"Unsqueeze", "2;#0,0", .says = "an axis is named twice"},
    {"Unsqueeze", "2;#5", .says = "axis 5 of 2 dimensions"},
    {"Unsqueeze", "2;2", .says = ":?,?,?"},
    {"Unsqueeze", "2;n", .says = ":!"},
    {"Transpose", "2,3", .says = "'perm' has 3 entries for 2 dimensions", {INTS("perm", 3, 0, 1, 2)}},
    {"Transpose", "2,3", .says = "'perm' is not a permutation", {INTS("perm", 2, 0, 0)}},
    {"Transpose", "2,3", .says = "'perm' is not a permutation", {INTS("perm", 2, 0, -1)}},
    {"Transpose", "!", .says = ":!"},
    {"Gather", ";1", .says = "axis 0 of 0 dimensions"},
    {"Gather", "!;1", .says = ":!"},
    {"OneHot", "2;=0;2", .says = "a depth of 0"},
    {"OneHot", "2;1;2", .says = ":2,?"},
    {"OneHot", "!;=3;2", .says = ":!"},
    {"LayerNormalization", "2,3;3", .says = "axis 2 of 2 dimensions", {INT("axis", 2)}},
    {"Unique", "2,3", .says = "axis 2 of 2 dimensions", {INT("axis", 2)}},
    {"Unique", "!", .says = ":!", {INT("axis", 2)}},
    {"Unique", "4611686018427387904,4", .says = "beyond 64 bits"},
    {"Compress", "2,3;2", .says = "axis 2 of 2 dimensions", {INT("axis", 2)}},
    {"Compress", "4611686018427387904,4;2", .says = "beyond 64 bits"},
    {"Compress", "!;2", .says = ":!", {INT("axis", 2)}},
    /* counts of elements */
    {"Reshape", "2,3;#4,2", .says = "2x3 does not reshape to 4x2"},
    {"Reshape", "2,3;#4,-1", .says = "2x3 does not reshape to 4x?"},
    {"Reshape", "2,3;#-1,-1", .says = "more than one entry of -1"},
    {"Reshape", "2,3;#-2,3", .says = "the shape has the entry -2"},
    {"Reshape", "2,3;#2,3,0", .says = "entry 2 copies a dimension that the data has not"},
    {"Reshape", "2,3;#0,-1", .says = "2x3 does not reshape to 0x?", {INT("allowzero", 1)}},
    {"Reshape", "0,3;#0,-1", .says = ":0,?"},
    {"Reshape", "2,3;#4611686018427387904,4", .says = "beyond 64 bits"},
    {"Reshape", "2,3;65", .says = "a shape of 65 dimensions"},
    {"Reshape", "2,3;2", .says = ":?,?"},
    {"Reshape", "!;#0,-1", .says = ":?,?"},
    {"Reshape", "2,3", .says = ":6", {INTS("shape", 1, -1)}, .opset = 1},
    {"Split", "5", .says = "5 in 2 equal parts", .outputs = 2},
    {"Split", "5;#2,2", .says = "the parts are 4 of 5", .outputs = 2},
    {"Split", "5;#2,2,1", .says = "3 parts for 2 outputs", .outputs = 2},
    {"Split", "5;#6,-1", .says = "a part of -1", .outputs = 2},
    {"Split", "5", .says = "'num_outputs' is not 2", {INT("num_outputs", 3)}, .opset = 18, .outputs = 2},
    {"Split", "1", .says = "1 in 3 parts", {INT("num_outputs", 3)}, .opset = 18, .outputs = 3},
    {"Split", "5;2", .says = ":?", .outputs = 2},
    {"Split", "!", .says = ":!", .outputs = 2},
    {"Tile", "2,3;#1", .says = "1 repeats for 2 dimensions"},
    {"Tile", "2,3;#1,-1", .says = "-1 repeats"},
    {"Tile", "2,3;#4611686018427387904,1", .says = "beyond 64 bits"},
    {"Tile", "2,3;2", .says = ":?,?"},
    {"Expand", "2,3;#-1,3", .says = "a dimension of -1"},
    {"Expand", "2,3;65", .says = "a shape of 65 dimensions"},
    {"Expand", "2,3;2", .says = ":2,3"},
    {"Expand", "2,3;n", .says = ":!"},
    {"Pad", "2,3;#0,0,1", .says = "3 pads for 2 axes"},
    {"Pad", "2,3;#0,0,-3,0", .says = "-1 remain of a dimension"},
    {"Pad", "2,3;#9223372036854775807,0,0,0", .says = "beyond 64 bits"},
    {"Pad", "2,3", .says = "'pads' is missing"},
    {"Pad", "2,3;4", .says = ":?,?"},
    {"Pad", "n,3;#0,1,0,1", .says = ":n,5"},
    {"CenterCropPad", "2,3;#4", .says = "1 sizes for 2 axes", .opset = 18},
    {"CenterCropPad", "2,3;2", .says = ":?,?", .opset = 18},
    {"DepthToSpace", "1,6,2,2", .says = "6 in blocks of 4", {INT("blocksize", 2)}},
    {"DepthToSpace", "1,6,2,2", .says = "'blocksize' is 0"},
    {"DepthToSpace", "1,n,9223372036854775807,2", .says = "beyond 64 bits", {INT("blocksize", 2)}},
    {"SpaceToDepth", "1,6,3,2", .says = "3 in blocks of 2", {INT("blocksize", 2)}},
    {"SpaceToDepth", "1,9223372036854775807,2,2", .says = "beyond 64 bits", {INT("blocksize", 2)}},
    {"SpaceToDepth", "1,2,n,2", .says = ":1,8,?,1", {INT("blocksize", 2)}},
    /* slices */
    {"Slice", "5;#0;#2;#0;#0", .says = "a step of 0"},
    {"Slice", "5;#0,0;#2", .says = "differ in number"},
    {"Slice", "5,5;#0,0;#2,2;#0,0", .says = "axis 0 is named twice"},
    {"Slice", "5,6;1;1;#1", .says = ":5,?"},
    {"Slice", "5,6;1;1", .says = ":?,?"},
    {"Slice", "5,6;#1;#2;1", .says = ":?,?"},
    {"Slice", "n,6;#0;#2147483647;#0", .says = ":n,6"},
    {"Slice", "n,6;#1;#2147483647;#0", .says = ":?,6"},
    {"Slice", "7;#-9223372036854775808;#9223372036854775807", .says = ":7"},
    {"Slice", "7;#6;#-9223372036854775808;#0;#-9223372036854775808", .says = ":1"},
    {"Slice", "0;#-1;#-9;#0;#-1", .says = ":0"},
    {"Slice", "!;#0;#1", .says = ":!"},
    /* resizing */
    {"Resize", "1,1,4,4;-;~1,1,2", .says = "3 scales for 4 axes"},
    {"Resize", "1,1,4,4;-;~1,1,-2,2", .says = "a scale of -2"},
    {"Resize", "1,1,4,4;-;~1,1,1e30,2", .says = "a scale of 1e+30"},
    {"Resize", "1,1,4,4;-;-;#1,1,8", .says = "3 sizes for 4 axes"},
    {"Resize", "1,1,4,4;-;-;#1,1,8,-1", .says = "a size of -1"},
    {"Resize", "1,1,4,4", .says = "neither scales nor sizes"},
    {"Resize", "n,1,4,4;-;~1,1,2,2", .says = ":n,1,8,8"},
    {"Resize", "n,1,4,4;-;4", .says = ":?,?,?,?"},
    {"Resize", "!;-;4", .says = ":!"},
    {"Resize",
     "1,1,4,4;~0,0,0.25,0,1,1,0.75,1;~1,1,2,2",
     .says = ":1,1,4,8",
     {TEXT("coordinate_transformation_mode", "tf_crop_and_resize")}},
    {"Resize", "n,0;-;-;#4,4", .says = ":?,?", {TEXT("keep_aspect_ratio_policy", "not_larger")}, .opset = 18},
    {"Upsample", "1,1,4,4", .says = "'scales' does not hold 4 numbers", {REALS("scales", 1, 2)}, .opset = 7},
    {"Upsample", "1,1,4,4;4", .says = ":?,?,?,?", .opset = 9},
    {"Upsample", "!;4", .says = ":!", .opset = 9},
    {"AffineGrid", "1,2,3;#1,2,3", .says = "a size of 3 entries", .opset = 20},
    {"AffineGrid", "1,2,3;#1,2,-3,4", .says = "a size of -3", .opset = 20},
    {"AffineGrid", "1,2,3;4", .says = ":?,?,?,2", .opset = 20},
    {"AffineGrid", "1,2,3;n", .says = ":!", .opset = 20},
    {"Col2Im", "1,5,9;#4,4;#2,2", .says = "5 in blocks of 4", .opset = 18},
    {"Col2Im", "1,4,9;#4,4;#2,0", .says = "an image or block without extent", .opset = 18},
    {"Col2Im", "1,4,9;2;2", .says = ":1,?,?,?", .opset = 18},
    {"Col2Im", "1,4,9;n;n", .says = ":!", .opset = 18},
    {"Col2Im", "1,4,9;#1,1;#4611686018427387904,4", .says = "beyond 64 bits", .opset = 18},
    /* tensors made from a description */
    {"ConstantOfShape", "#2,-3", .says = "a dimension of -3"},
    {"ConstantOfShape", "65", .says = "a shape of 65 dimensions"},
    {"Range", "=1;=9;=0", .says = "a step of 0"},
    {"Range", "~1;~9;~0", .says = ":?"},
    {"Range", "=-9223372036854775808;=9223372036854775807;=1", .says = ":?"},
    {"RandomNormal", NULL, .says = "'shape' is missing"},
    {"RandomNormal", NULL, .says = "a dimension of -1", {INTS("shape", 2, 3, -1)}},
    {"RandomNormal", NULL, .says = "'dtype' is 99, which is no element type", {INTS("shape", 1, 3), INT("dtype", 99)}},
    {"Multinomial", "2,3", .says = "'sample_size' is -1", {INT("sample_size", -1)}},
    {"HannWindow", "=-4", .says = "a window of -4"},
    {"HannWindow", "", .says = ":?"},
    {"MelWeightMatrix", "=0;=8", .says = "an empty spectrum"},
    {"DFT", "2,8,1", .says = "the axis of the complex parts", {INT("axis", 2)}},
    {"DFT", "2,8,1;=0", .says = "a length of 0"},
    {"DFT", "2,n,1", .says = ":2,?,2", {INT("onesided", 1)}},
    {"DFT", "2,8,1;;1", .says = ":?,?,2", .opset = 20},
    {"DFT", "!", .says = ":!"},
    {"DFT", "2,5,2", .says = ":2,8,1", {INT("onesided", 1), INT("inverse", 1)}},
    {"DFT", "2,9223372036854775807,2", .says = "beyond 64 bits", {INT("onesided", 1), INT("inverse", 1)}},
    {"STFT", "1,8,1;=2;-;=-4", .says = ":1,?,?,2"},
    {"STFT", "1,8,1;=2;-;=16", .says = "frames of 16 of a signal of 8"},
    {"STFT", "1,8,1;;4", .says = ":1,?,3,2"},
    /* recurrent and attention */
    {"LSTM", "3,1,4;1,8,4;1,8,2", .says = "'hidden_size' is 0", {INT("hidden_size", 0)}},
    {"LSTM", "3,1,4;1,8,4;1,8,2", .says = ":3,1,1,2"},
    {"LSTM", "!;1,8,4;!", .says = ":?,1,?,?"},
    {"Attention",
     "1,2,3;3,9",
     .says = "'qkv_hidden_sizes' is malformed",
     {INTS("qkv_hidden_sizes", 1, 3)},
     .domain = "com.microsoft"},
    {"Attention", "1,2,3;!", .says = ":1,2,?", .domain = "com.microsoft"},
    {"Attention", "1,2,3;3,9", .says = ":1,2,5", {INTS("qkv_hidden_sizes", 3, 2, 2, 5)}, .domain = "com.microsoft"},
    {"Attention",
     "1,2,8;1,2,8;1,2,8",
     .says = "beyond 64 bits",
     {INT("q_num_heads", BIG), INT("kv_num_heads", 4)},
     .opset = 23},
    {"Attention", "!;1,2,8;1,2,8", .says = ":!", .opset = 23},
    {"GroupQueryAttention", "1,2,8", .says = "0 heads, 0 of keys", .domain = "com.microsoft"},
    {"GroupQueryAttention",
     "!",
     .says = ":?,?,?",
     {INT("num_heads", 2), INT("kv_num_heads", 1)},
     .domain = "com.microsoft"},
    {"MultiHeadAttention", "1,2", .says = ":!", .domain = "com.microsoft"},
    {"MultiHeadAttention", "1,2,4,3,8", .says = ":1,2,32", {INT("num_heads", 4)}, .domain = "com.microsoft"},
    {"Einsum", "2,3", .says = "'equation' is missing"},
    {"Einsum", "2,3", .says = "the term 'i' does not fit 2 dimensions", {TEXT("equation", "i->i")}},
    {"Einsum", "2,3", .says = "the term '' does not fit 2 dimensions", {TEXT("equation", "")}},
    {"Einsum", "2,3;3", .says = "fewer terms than there are inputs", {TEXT("equation", "ij")}},
    {"Einsum", "2,3", .says = "more terms than there are inputs", {TEXT("equation", "ij,jk->ik")}},
    {"Einsum", "2,3;4,5", .says = "the sizes of 'j' differ", {TEXT("equation", "ij,jk->ik")}},
    {"Einsum", "2,3", .says = "the right side has a letter", {TEXT("equation", "ij->k")}},
    {"Einsum", "2,3", .says = "a term has 2 dots", {TEXT("equation", "..i->i")}},
    {"Einsum", "2,3", .says = "unknown sign", {TEXT("equation", "i+j->i")}},
    {"Einsum", "2,3", .says = "unknown sign", {TEXT("equation", "i.j..->i")}},
    {"Einsum", "2,3;!", .says = ":!", {TEXT("equation", "ij,jk->ik")}},
    {"Einsum", "1,3;n,3", .says = ":n,3", {TEXT("equation", "ij,ij->ij")}},
    /* malformed attributes */
    {"Softmax", "2,3", .says = "attribute 'axis' does not hold integers", {TEXT("axis", "1")}},
    {"Softmax", "2,3", .says = "attribute 'axis' has 2 values instead of one", {INTS("axis", 2, 1, 1)}},
    {"Cast", "2", .says = "'to' is missing"},
    {"Cast", "2", .says = "'to' is -5, which is no element type", {INT("to", -5)}},
    {"BitCast", "2", .says = "f32 and f64 differ in width", {INT("to", 11)}, .opset = 26},
    {"Conv", "1,4,5,5;8,4,3,3", .says = "attribute 'auto_pad' does not hold text", {INT("auto_pad", 1)}},
    {"ReduceMean", "2,3", .says = "'axes' has 65 entries", {INTS("axes", 65, [64] = 0)}},
    {"ReduceSum", "2,3;65", .says = "'axes' has 65 entries"},
    {"FeatureVectorizer", "2,3", .says = "a width of -1", {INTS("inputdimensions", 1, -1)}, .domain = "ai.onnx.ml"},
    {"FeatureVectorizer",
     "2,3",
     .says = "beyond 64 bits",
     {INTS("inputdimensions", 2, BIG, BIG)},
     .domain = "ai.onnx.ml"},
    {"FeatureVectorizer", "3", .says = ":1,?", .domain = "ai.onnx.ml"},
    {"LinearRegressor", "2,3", .says = "'targets' is 0", {INT("targets", 0)}, .domain = "ai.onnx.ml"},
    {"LinearClassifier", "!", .says = ":?", .domain = "ai.onnx.ml"},
    {"OneHotEncoder", "!", .says = ":!", .domain = "ai.onnx.ml"},
    {"OneHotEncoder", "2", .says = ":2,?", .domain = "ai.onnx.ml"},
    {"ArrayFeatureExtractor", "!;2", .says = ":!", .domain = "ai.onnx.ml"},
    {"CategoryMapper", "2", .says = ":2", .domain = "ai.onnx.ml"},
    /* operations before opset 7 spread along an axis */
    {"Add", "2,3,4;3", .says = ":2,3,4", {INT("broadcast", 1), INT("axis", 1)}, .opset = 6},
};

static void add_input(graph *g, const char *name, const char *text, size_t n) {
    char word[400];
    assert_true(n < sizeof word);
    memcpy(word, text, n);
    word[n] = '\0';
    int64_t ints[80];
    float reals[80];
    int count = 0;
    if (*word == '#' || *word == '=' || *word == '~') {
        for (char *at = word; *at; count++) {
            char *next = NULL;
            ints[count] = strtoll(at + 1, &next, 10);
            if (*word == '~') reals[count] = strtof(at + 1, &next);
            at = next;
        }
    }
    if (*word == '#')
        graph_ints(g, name, count, ints);
    else if (*word == '=')
        graph_ints(g, name, -1, ints);
    else if (*word == '~')
        graph_reals(g, name, count == 1 ? -1 : count, reals);
    else
        graph_input(g, name, BERTH_TYPE_F32, *word == '!' ? NULL : word);
}

static graph *make_graph(const row *r) {
    graph *g = graph_new(r->opset ? r->opset : 17);
    char inputs[100] = "", outputs[100] = "y";
    size_t used = 0;
    const char *text = r->inputs;
    for (int i = 0; r->inputs; i++) {
        char name[16];
        size_t n = strcspn(text, ";");
        bool absent = n == 1 && *text == '-';
        snprintf(name, sizeof name, absent ? "-" : "x%d", i);
        if (!absent) add_input(g, name, text, n);
        used += (size_t)snprintf(inputs + used, sizeof inputs - used, "%s%s", i ? " " : "", name);
        if (!text[n]) break;
        text += n + 1;
    }
    for (int i = 1; i < r->outputs; i++) snprintf(outputs + strlen(outputs), 16, " y%d", i);
    int32_t n_attributes = 0;
    while (n_attributes < 4 && r->attributes[n_attributes].name) n_attributes++;
    graph_op_of(g, r->domain ? r->domain : "", r->type, inputs, outputs, n_attributes, r->attributes);
    return g;
}

/* What came out, in the form of `says`. */
static const char *outcome(graph *g, char text[2001]) {
    berth_status status = graph_infer(g);
    if (status == BERTH_E_FORMAT) return berth_ctx_message(g->ctx);
    if (status != BERTH_OK) return "not a refusal";
    text[0] = ':';
    char shape[2000];
    snprintf(text + 1, 2000, "%s", graph_text(graph_tensor(g, "y"), shape));
    return text;
}

static void each_row(void **state) {
    (void)state;
    int wrong = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const row *r = &rows[i];
        graph *g = make_graph(r);
        char text[2001];
        const char *got = outcome(g, text);
        bool right = *r->says == ':' ? strcmp(got, r->says) == 0 : strstr(got, r->says) && strstr(got, "byte 7: ");
        if (!right) print_error("%s(%s): '%s' instead of '%s'\n", r->type, r->inputs, got, r->says);
        wrong += !right;
        graph_free(g);
    }
    assert_int_equal(wrong, 0);
}

/* Each would make more dimensions from 64. */
static const struct {
    const char *type, *domain, *inputs, *says;
    berth_attribute attribute;
} grow[] = {
    {"Unsqueeze", "", "x axes", "65 dimensions, more than 64", INT("unused", 0)},
    {"Gather", "", "x x", "more than 64 dimensions", INT("axis", 0)},
    {"GatherND", "", "x x", "more than 64 dimensions", INT("unused", 0)},
    {"OneHot", "", "x axes axes", "more than 64 dimensions", INT("axis", 0)},
    {"OneHotEncoder", "ai.onnx.ml", "x", "more than 64 dimensions", INT("unused", 0)},
    {"Einsum", "", "x x", "more than 64 dimensions", TEXT("equation", "...a,b...->...a...")},
    {"MaxPool", "", "x", "'kernel_shape' has 63 entries", INTS("kernel_shape", 63, [62] = 1)},
};

/* A shape of 64 dimensions cannot grow. */
static void ranks_end_at_64(void **state) {
    (void)state;
    char shape[200] = "1";
    for (int i = 1; i < BERTH_MAX_RANK; i++) memcpy(shape + 2 * i - 1, ",1", 3);
    for (size_t i = 0; i < sizeof grow / sizeof *grow; i++) {
        graph *g = graph_new(17);
        graph_input(g, "x", BERTH_TYPE_F32, shape);
        graph_ints(g, "axes", 1, (int64_t[]){0});
        graph_op_of(g, grow[i].domain, grow[i].type, grow[i].inputs, "y", 1, &grow[i].attribute);
        graph_refuse(g, grow[i].says);
        graph_free(g);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_row),
        cmocka_unit_test(ranks_end_at_64),
    };
    return cmocka_run_group_tests_name("read.infer_refuse", tests, NULL, NULL);
}
