/* SPDX-License-Identifier: Apache-2.0 */
/* Makes ONNX files as large as wanted. */
#ifndef BERTH_BENCH_BIG_ONNX_H
#define BERTH_BENCH_BIG_ONNX_H

#include <stdbool.h>
#include <stdint.h>

/* A chain of `layers` times MatMul, Add and Relu. Each layer has a square weight and a bias of `width` floats. */
typedef struct big_onnx {
    int layers;
    int width;
    bool external; /* weights and biases are said to be in another file, which is not made */
} big_onnx;

/* Bytes of all weights and biases. */
uint64_t big_onnx_payload(const big_onnx *model);

/* Writes the model to a new file; false if it cannot, with errno set. */
bool big_onnx_write(const big_onnx *model, const char *path);

#endif
