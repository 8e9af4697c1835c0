# SPDX-License-Identifier: Apache-2.0
# What `make install` puts where: command, both libraries, headers, and the files by which pkg-config and CMake find them.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/berth)
install(TARGETS berth_cli)
install(TARGETS berth berth_static EXPORT berth-targets FILE_SET HEADERS)
install(EXPORT berth-targets NAMESPACE berth:: DESTINATION ${package_dir})

configure_package_config_file(cmake/berth-config.cmake.in ${PROJECT_BINARY_DIR}/berth-config.cmake
                              INSTALL_DESTINATION ${package_dir})
# Before 1.0 a new minor version may break what the old one promised.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/berth-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/berth-config.cmake ${PROJECT_BINARY_DIR}/berth-config-version.cmake
        DESTINATION ${package_dir})

# The prefix is found from where the .pc file lies, so that the tree may be moved after it was installed.
file(RELATIVE_PATH pc_to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" pc_to_prefix ${pc_to_prefix})
configure_file(cmake/berth.pc.in ${PROJECT_BINARY_DIR}/berth.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/berth.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
