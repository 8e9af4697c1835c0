# One line per test: berth_oracle_test(<name> [arguments])

add_executable(json_echo tests/oracle/json_echo.c)
berth_ours(json_echo)
target_link_libraries(json_echo PRIVATE test_support)
set_target_properties(json_echo PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
berth_oracle_test(json_twin $<TARGET_FILE:json_echo>)
berth_oracle_test(fingerprint)
