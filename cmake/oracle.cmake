# SPDX-License-Identifier: Apache-2.0
# hsdag_oracle compares our network with recorded numbers of the published one (tests/oracle/hsdag_oracle.c). It is part
# of every build of this tree, and never installed.
add_executable(hsdag_oracle tests/oracle/hsdag_oracle.c)
berth_ours(hsdag_oracle)
target_include_directories(hsdag_oracle PRIVATE src)
target_link_libraries(hsdag_oracle PRIVATE berth_double)
set_target_properties(hsdag_oracle PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
