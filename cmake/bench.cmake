# SPDX-License-Identifier: Apache-2.0
# bench/<name>.c is a program of its own (target bench_<name>). Test builds compile it too, so that it keeps compiling;
# otherwise only `make bench` asks for it.
add_custom_target(bench)
function(berth_bench name)
  add_executable(bench_${name} bench/${name}.c ${ARGN})
  berth_ours(bench_${name})
  target_include_directories(bench_${name} PRIVATE bench src)
  target_link_libraries(bench_${name} PRIVATE berth_static)
  set_target_properties(bench_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
  if(NOT BERTH_TESTS)
    set_target_properties(bench_${name} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
  add_dependencies(bench bench_${name} berth_cli)
endfunction()
include(bench/benches.cmake)
