# SPDX-License-Identifier: Apache-2.0
# The module by which the worker reaches what OpenVINO's C interface lacks (src/runtime/ov_module.h). It is built where
# the OpenVINO package is: given by OpenVINO_DIR, fetched by `scripts/setup runtime`, or installed. Without it everything
# else is built as ever, and placements with OpenVINO are refused with one line.
option(BERTH_OPENVINO "Build the module for OpenVINO where its package is found" ON)
set(BERTH_OPENVINO_FOUND OFF)
if(BERTH_OPENVINO)
  include(CheckLanguage)
  check_language(CXX)
  if(CMAKE_CXX_COMPILER)
    enable_language(CXX)
    find_package(OpenVINO QUIET COMPONENTS Runtime
                 HINTS $ENV{BERTH_RUNTIMES}/openvino/openvino/cmake ${PROJECT_SOURCE_DIR}/.deps/openvino/openvino/cmake)
  endif()
  if(OpenVINO_FOUND)
    set(BERTH_OPENVINO_FOUND ON)
    add_library(berth_openvino MODULE src/runtime/ov_module.cpp)
    target_compile_features(berth_openvino PRIVATE cxx_std_17)
    target_compile_options(berth_openvino PRIVATE -Wall -Wextra $<$<BOOL:${BERTH_WERROR}>:-Werror>)
    target_include_directories(berth_openvino PRIVATE src)
    target_link_libraries(berth_openvino PRIVATE openvino::runtime)
    # The worker has loaded the library already; no path to another copy may lead away from it.
    set_target_properties(berth_openvino PROPERTIES PREFIX "" CXX_EXTENSIONS OFF SKIP_BUILD_RPATH ON
                          LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
    install(TARGETS berth_openvino LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/berth)
  endif()
  message(STATUS "OpenVINO: ${OpenVINO_VERSION} ${OpenVINO_DIR}")
endif()
