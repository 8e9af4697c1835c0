/* SPDX-License-Identifier: Apache-2.0 */
/* Stands for an OpenVINO that is too old, crashes, hangs or takes all memory, as $BERTH_FAKE says: "old", or any
 * version, else what it does when it is asked for it. All functions are there; none but the first does anything. */
#include "trouble.h"

typedef struct fake_version {
    const char *build, *description;
} fake_version;

int ov_get_openvino_version(fake_version *out);

int ov_get_openvino_version(fake_version *out) {
    const char *how = getenv("BERTH_FAKE");
    out->build = how ? how : "2026.4.1-1-fake";
    out->description = "";
    if (how) make_trouble(how);
    return 0;
}

/* clang-format off */
/* What is never reached: a library of that age fails before. */
#define REST(X) \
    X(version_free) X(free) X(core_create) X(core_create_with_config) X(core_free) \
    X(core_get_available_devices) X(available_devices_free) X(core_get_property) \
    X(core_set_property) X(core_read_model) X(core_read_model_from_memory_buffer) \
    X(core_compile_model) X(model_free) X(model_inputs_size) X(model_outputs_size) \
    X(model_const_input_by_index) X(model_const_output_by_index) X(model_reshape_by_port_indexes) \
    X(port_get_any_name) X(port_get_element_type) X(output_const_port_free) X(compiled_model_free) \
    X(compiled_model_create_infer_request) X(infer_request_free) \
    X(infer_request_set_input_tensor_by_index) X(infer_request_get_output_tensor_by_index) \
    X(infer_request_infer) X(infer_request_get_profiling_info) X(profiling_info_list_free) \
    X(tensor_create_from_host_ptr) X(tensor_free) X(tensor_get_shape) X(shape_free) \
    X(tensor_get_element_type) X(tensor_get_byte_size) X(tensor_data)
#define FAIL(name)        \
    int ov_##name(void);  \
    int ov_##name(void) { \
        return -1;        \
    }
REST(FAIL)
/* clang-format on */

const char *ov_get_last_err_msg(void);

const char *ov_get_last_err_msg(void) {
    return "the fake says\nno";
}
