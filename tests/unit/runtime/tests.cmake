# One line per test program: berth_unit_test(folder file [libraries])
berth_unit_test(runtime npy)
berth_unit_test(runtime stats)
berth_unit_test(runtime compare)
berth_unit_test(runtime inputs)
berth_unit_test(runtime runtime)
berth_unit_test(runtime trace)
berth_unit_test(runtime attribute)
berth_unit_test(runtime weights)

# A library that is not ONNX Runtime, or not as it should be: what it does is up to $BERTH_FAKE.
add_library(fake_ort MODULE tests/unit/runtime/fake_ort.c)
berth_ours(fake_ort)
set_target_properties(fake_ort PROPERTIES C_VISIBILITY_PRESET default)
add_dependencies(unit_runtime_runtime fake_ort berth_cli)
target_compile_definitions(unit_runtime_runtime PRIVATE BERTH_CLI="$<TARGET_FILE:berth_cli>"
                           BERTH_FAKE_ORT="$<TARGET_FILE:fake_ort>")
