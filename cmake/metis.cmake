# SPDX-License-Identifier: Apache-2.0
# METIS partitions graphs for the method of that name. Without it the method is not there, and says why.
find_path(METIS_INCLUDE_DIR metis.h)
find_library(METIS_LIBRARY metis)
mark_as_advanced(METIS_INCLUDE_DIR METIS_LIBRARY)
if(METIS_INCLUDE_DIR AND METIS_LIBRARY)
  set(metis_source src/search/metis.c)
  set(metis_libraries ${METIS_LIBRARY})
  set(metis_pc "-lmetis")
else()
  message(STATUS "METIS was not found: the method metis will be absent")
  set(metis_source src/search/metis_absent.c)
endif()
