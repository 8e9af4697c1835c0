# SPDX-License-Identifier: Apache-2.0
# tensor, policy and learn compute with berth_real (src/tensor/real.h) and are compiled twice: as float for the libraries,
# as double for berth_double, with which tests check gradients. The other folders are the same objects in both, so
# nothing they include may speak of berth_real.
berth_objects_library(berth_floats)
berth_objects_library(berth_doubles)
target_compile_definitions(berth_doubles PRIVATE BERTH_REAL_DOUBLE)

# What lets loops over elements become vector instructions: errno and traps of arithmetic are not looked at. Not
# -ffast-math, under which NaN counts as finite and no divergence would be seen.
foreach(target berth_floats berth_doubles)
  target_compile_options(${target} PRIVATE -fno-math-errno -fno-trapping-math $<$<NOT:$<CONFIG:Debug>>:-O3>)
  if(OPENBLAS_INCLUDE_DIR)
    target_include_directories(${target} SYSTEM PRIVATE ${OPENBLAS_INCLUDE_DIR})
  endif()
endforeach()

# berth_twice(FILE...): sources of those folders, for their sources.cmake.
function(berth_twice)
  target_sources(berth_floats PRIVATE ${ARGN})
  target_sources(berth_doubles PRIVATE ${ARGN})
endfunction()

add_library(berth_double STATIC $<TARGET_OBJECTS:berth_objects> $<TARGET_OBJECTS:berth_doubles>)
target_include_directories(berth_double PUBLIC include)
target_compile_definitions(berth_double PUBLIC BERTH_REAL_DOUBLE)
target_link_libraries(berth_double PRIVATE EXPAT::EXPAT ZLIB::ZLIB SQLite::SQLite3 ${metis_libraries} ${blas_libraries} Threads::Threads m)
if(NOT BERTH_TESTS)
  set_target_properties(berth_doubles berth_double PROPERTIES EXCLUDE_FROM_ALL ON)
endif()
