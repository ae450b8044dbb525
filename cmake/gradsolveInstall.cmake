include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/gradsolve)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ TYPE INCLUDE)
install(TARGETS gradsolve EXPORT gradsolveTargets)
install(EXPORT gradsolveTargets NAMESPACE gradsolve:: DESTINATION ${package_dir})
if(TARGET gradsolve_tool)
  install(TARGETS gradsolve_tool)
endif()

# While the major version is 0, a minor version may break its users.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/gradsolveConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/gradsolveConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/gradsolveConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
install(FILES ${PROJECT_BINARY_DIR}/gradsolveConfig.cmake
              ${PROJECT_BINARY_DIR}/gradsolveConfigVersion.cmake
        DESTINATION ${package_dir})
