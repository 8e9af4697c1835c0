/* SPDX-License-Identifier: Apache-2.0 */
/* Shape bindings: what the user says of the model's inputs. */
#ifndef BERTH_READ_ONNX_BIND_H
#define BERTH_READ_ONNX_BIND_H

#include "berth/read.h"
#include "graph/build.h"

/* Apply options->shapes to a linked builder, before inference. BERTH_E_ARG if one fits no input. */
berth_status berth_onnx_bind(berth_build *b, const berth_read_options *options);

#endif
