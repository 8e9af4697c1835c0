/* SPDX-License-Identifier: Apache-2.0 */
/* Digests of attribute values that the graph does not keep: tensors, lists of strings, nested graphs. */
#ifndef BERTH_READ_ONNX_DIGEST_H
#define BERTH_READ_ONNX_DIGEST_H

#include "base/sha256.h"
#include "read/onnx_attribute.h"

/* SHA-256 over a canonical form of the values of the attribute at `field`. */
berth_status berth_onnx_digest(berth_onnx *reader, const berth_wire_field *field, const berth_onnx_scan *scan,
                               unsigned char digest[BERTH_SHA256_SIZE]);

#endif
