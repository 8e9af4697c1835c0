/* SPDX-License-Identifier: Apache-2.0 */
/* OpenVINO's C interface as the worker sees it: plain exported functions, found by name, so that no header of theirs is
 * needed. Structs and functions are the same from 2024.0 to 2026.4; element types are not (ov_types.h). All functions
 * that return an int return 0, or a negative code. */
#ifndef BERTH_RUNTIME_OV_API_H
#define BERTH_RUNTIME_OV_API_H

#include <stddef.h>
#include <stdint.h>

typedef struct ov_core ov_core;
typedef struct ov_model ov_model;
typedef struct ov_compiled ov_compiled;
typedef struct ov_request ov_request;
typedef struct ov_tensor ov_tensor;
typedef struct ov_port ov_port;

typedef struct ov_version {
    const char *build, *description;
} ov_version;

typedef struct ov_names {
    char **names;
    size_t n;
} ov_names;

typedef struct ov_shape {
    int64_t rank;
    int64_t *dims;
} ov_shape;

typedef struct ov_dim {
    int64_t min, max;
} ov_dim;

typedef struct ov_partial_shape {
    ov_dim rank;
    ov_dim *dims;
} ov_partial_shape;

typedef struct ov_profile_row {
    int status; /* OV_EXECUTED */
    int64_t real_us, cpu_us;
    const char *name, *executed_as, *type;
} ov_profile_row;

typedef struct ov_profile {
    ov_profile_row *rows;
    size_t n;
} ov_profile;

enum { OV_EXECUTED = 2 };

/* returns, name, takes */
#define OV_FUNCTIONS(X)                                                                                         \
    X(int, get_openvino_version, (ov_version *))                                                                \
    X(void, version_free, (ov_version *))                                                                       \
    X(const char *, get_last_err_msg, (void))                                                                   \
    X(int, core_create, (ov_core **))                                                                           \
    X(int, core_create_with_config, (const char *path, ov_core **))                                             \
    X(void, core_free, (ov_core *))                                                                             \
    X(int, core_get_available_devices, (const ov_core *, ov_names *))                                           \
    X(void, available_devices_free, (ov_names *))                                                               \
    X(int, core_get_property, (const ov_core *, const char *device, const char *key, char **value))             \
    X(int, core_set_property, (const ov_core *, const char *device, ...))                                       \
    X(int, core_read_model, (const ov_core *, const char *path, const char *weights, ov_model **))              \
    X(int, core_read_model_from_memory_buffer,                                                                  \
      (const ov_core *, const char *text, size_t, const ov_tensor *weights, ov_model **))                       \
    X(int, core_compile_model,                                                                                  \
      (const ov_core *, const ov_model *, const char *device, size_t n_words, ov_compiled **, ...))             \
    X(void, model_free, (ov_model *))                                                                           \
    X(int, model_inputs_size, (const ov_model *, size_t *))                                                     \
    X(int, model_outputs_size, (const ov_model *, size_t *))                                                    \
    X(int, model_const_input_by_index, (const ov_model *, size_t, ov_port **))                                  \
    X(int, model_const_output_by_index, (const ov_model *, size_t, ov_port **))                                 \
    X(int, model_reshape_by_port_indexes, (const ov_model *, const size_t *, const ov_partial_shape *, size_t)) \
    X(int, port_get_any_name, (const ov_port *, char **))                                                       \
    X(int, port_get_element_type, (const ov_port *, int *))                                                     \
    X(void, output_const_port_free, (ov_port *))                                                                \
    X(void, compiled_model_free, (ov_compiled *))                                                               \
    X(int, compiled_model_create_infer_request, (const ov_compiled *, ov_request **))                           \
    X(void, infer_request_free, (ov_request *))                                                                 \
    X(int, infer_request_set_input_tensor_by_index, (ov_request *, size_t, const ov_tensor *))                  \
    X(int, infer_request_get_output_tensor_by_index, (const ov_request *, size_t, ov_tensor **))                \
    X(int, infer_request_infer, (ov_request *))                                                                 \
    X(int, infer_request_get_profiling_info, (const ov_request *, ov_profile *))                                \
    X(void, profiling_info_list_free, (ov_profile *))                                                           \
    X(int, tensor_create_from_host_ptr, (int type, ov_shape, void *data, ov_tensor **))                         \
    X(void, tensor_free, (ov_tensor *))                                                                         \
    X(int, tensor_get_shape, (const ov_tensor *, ov_shape *))                                                   \
    X(void, shape_free, (ov_shape *))                                                                           \
    X(int, tensor_get_element_type, (const ov_tensor *, int *))                                                 \
    X(int, tensor_get_byte_size, (const ov_tensor *, size_t *))                                                 \
    X(int, tensor_data, (const ov_tensor *, void **))

#define OV_MEMBER(returns, name, takes) returns(*name) takes; /* NOLINT(bugprone-macro-parentheses) */
typedef struct ov_api {
    OV_FUNCTIONS(OV_MEMBER)
    void (*text_free)(const char *); /* ov_free */
} ov_api;
#undef OV_MEMBER

#endif
