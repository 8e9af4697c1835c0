# SPDX-License-Identifier: Apache-2.0
# How tests are registered; which there are stands in tests/*/tests.cmake. Labels: unit, cli, oracle, fuzz, check, package.
# A test that exits with 77 was skipped.

find_library(CMOCKA_LIBRARY cmocka REQUIRED)
set(test_seconds 600)

function(berth_test_support target library)
  add_library(${target} STATIC tests/support/graphs.c tests/support/problems.c tests/support/support.c)
  berth_ours(${target})
  target_link_libraries(${target} PUBLIC ${library} ${CMOCKA_LIBRARY})
  target_include_directories(${target} PUBLIC tests/support src)
  target_compile_definitions(${target} PUBLIC BERTH_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
endfunction()
berth_test_support(test_support berth_static)
berth_test_support(test_support_double berth_double)

# tests/unit/<folder>/<file>.c, a cmocka program that may use internal headers. $BERTH_LAUNCHER runs it under another
# program: BERTH_LAUNCHER=valgrind ctest --preset release -L unit
function(berth_unit_program folder file support)
  set(name unit_${folder}_${file})
  add_executable(${name} tests/unit/${folder}/${file}.c)
  berth_ours(${name})
  target_link_libraries(${name} PRIVATE ${support} ${ARGN})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  add_test(NAME ${folder}.${file} COMMAND sh -c [[exec $BERTH_LAUNCHER "$0"]] $<TARGET_FILE:${name}>)
  set_tests_properties(${folder}.${file} PROPERTIES LABELS unit TIMEOUT ${test_seconds})
endfunction()
function(berth_unit_test folder file)
  berth_unit_program(${folder} ${file} test_support ${ARGN})
endfunction()
# The same, with berth_real as double (cmake/twice.cmake).
function(berth_double_test folder file)
  berth_unit_program(${folder} ${file} test_support_double ${ARGN})
endfunction()

# tests/cli/<name>.sh and what it is to print, see tests/cli/README.md.
function(berth_cli_test name)
  add_test(NAME cli.${name}
           COMMAND ${PROJECT_SOURCE_DIR}/scripts/run-cli-test $<TARGET_FILE:berth_cli> ${PROJECT_SOURCE_DIR} ${name})
  set_tests_properties(cli.${name} PROPERTIES LABELS cli TIMEOUT ${test_seconds} SKIP_RETURN_CODE 77)
endfunction()

# tests/oracle/<name>.py, run by the Python of $BERTH_PYTHON or of .deps/python.
function(berth_oracle_test name)
  add_test(NAME oracle.${name}
           COMMAND ${PROJECT_SOURCE_DIR}/scripts/run-oracle-test $<TARGET_FILE:berth_cli> ${PROJECT_SOURCE_DIR}
                   ${name} ${ARGN})
  set_tests_properties(oracle.${name} PROPERTIES LABELS oracle TIMEOUT ${test_seconds} SKIP_RETURN_CODE 77)
endfunction()

# scripts/<name> must accept a good tree and refuse each bad one of tests/checks/<name>.sh.
function(berth_check_test name)
  add_test(NAME checks.${name} COMMAND ${PROJECT_SOURCE_DIR}/tests/checks/run ${PROJECT_SOURCE_DIR} ${name})
  set_tests_properties(checks.${name} PROPERTIES LABELS check TIMEOUT ${test_seconds})
endfunction()

foreach(folder base graph read group device cost simulate search tensor policy learn runtime store plan place cli)
  include(tests/unit/${folder}/tests.cmake)
endforeach()
include(tests/cli/tests.cmake)
include(tests/oracle/tests.cmake)
include(tests/checks/tests.cmake)

# Users link without our sanitizers and counters, so only a plain build can be installed and used.
if(NOT CMAKE_C_FLAGS MATCHES "-fsanitize|--coverage")
  add_test(NAME package.install COMMAND ${PROJECT_SOURCE_DIR}/tests/package/run ${PROJECT_BINARY_DIR}
           ${PROJECT_SOURCE_DIR})
  set_tests_properties(package.install PROPERTIES LABELS package TIMEOUT ${test_seconds}
                       ENVIRONMENT "CC=${CMAKE_C_COMPILER};CXX=${CMAKE_CXX_COMPILER}")
endif()
