# SPDX-License-Identifier: Apache-2.0
# Each public header is compiled alone, as the oldest C and C++ that we promise and as newer ones, without a warning.
# Building is the test: these libraries hold nothing else. (VERIFY_INTERFACE_HEADER_SETS would check one language only,
# and outside the default target.)
enable_language(CXX)

function(berth_header_check language standard suffix)
  string(TOLOWER headers_${language}${standard} name)
  add_library(${name} OBJECT)
  get_target_property(headers berth HEADER_SET)
  foreach(header ${headers})
    cmake_path(GET header STEM stem)
    set(source ${PROJECT_BINARY_DIR}/headers/${stem}.${suffix})
    file(CONFIGURE OUTPUT ${source} CONTENT "#include \"berth/${stem}.h\"\n#include \"berth/${stem}.h\"\n")
    target_sources(${name} PRIVATE ${source})
  endforeach()
  target_include_directories(${name} PRIVATE include)
  target_compile_options(${name} PRIVATE -Wall -Wextra -Wpedantic -Werror)
  set_target_properties(${name} PROPERTIES ${language}_STANDARD ${standard} ${language}_STANDARD_REQUIRED ON
                        ${language}_EXTENSIONS OFF)
endfunction()
berth_header_check(C 99 c)
berth_header_check(C 17 c)
berth_header_check(CXX 11 cpp)
berth_header_check(CXX 20 cpp)
