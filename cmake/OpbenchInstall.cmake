# The program, its cases, and a package that other projects find with find_package(opbench).
include(CMakePackageConfigHelpers)
get_property(targets GLOBAL PROPERTY OPBENCH_TARGETS)
install(TARGETS opbench EXPORT opbenchTargets RUNTIME COMPONENT program)
install(TARGETS ${targets} EXPORT opbenchTargets ARCHIVE COMPONENT development)
# The headers of opbench/, and below internal/ those that they include.
install(CODE "set(source_dir \"${PROJECT_SOURCE_DIR}\")\nset(include_dir \"${CMAKE_INSTALL_INCLUDEDIR}\")
set(with_testing ${OPBENCH_TESTS})" COMPONENT development)
install(SCRIPT cmake/install_headers.cmake COMPONENT development)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT data)
install(DIRECTORY cases/ DESTINATION ${CMAKE_INSTALL_DATADIR}/opbench/cases COMPONENT data
        FILES_MATCHING PATTERN "*.yaml")
install(EXPORT opbenchTargets NAMESPACE opbench:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/opbench
        COMPONENT development)
configure_package_config_file(cmake/opbench-config.cmake.in opbench-config.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/opbench)
write_basic_package_version_file(opbench-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/opbench-config.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/opbench-config-version.cmake
              cmake/OpbenchDependencies.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/opbench COMPONENT development)
