# cmake -P find-kokkos.cmake: prints the KokkosConfig.cmake that find_package(Kokkos 4.6) would take.
# Asking for a version that cannot be makes CMake list what it sees and load none of it, which a
# script could not do.
cmake_minimum_required(VERSION 3.22)

# A project gets these from its compiler.
set(CMAKE_SYSTEM_PREFIX_PATH /usr/local /usr)
cmake_host_system_information(RESULT processor QUERY OS_PLATFORM)
set(CMAKE_LIBRARY_ARCHITECTURE ${processor}-linux-gnu)
set(CMAKE_SIZEOF_VOID_P 8)
set_property(GLOBAL PROPERTY FIND_LIBRARY_USE_LIB64_PATHS TRUE)

find_package(Kokkos 999 QUIET CONFIG)
foreach(config version IN ZIP_LISTS Kokkos_CONSIDERED_CONFIGS Kokkos_CONSIDERED_VERSIONS)
  if(version VERSION_GREATER_EQUAL 4.6)
    execute_process(COMMAND ${CMAKE_COMMAND} -E echo ${config})
    return()
  endif()
endforeach()
