# opbench_guest, the program that runs kernels of shared libraries (--kernels). It contains no part of opbench, and needs
# glibc only: a library may need a newer libstdc++ than that of this machine. It exports only the functions of TVM-FFI
# that libraries import.
file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/opbench/guest/*.cc)
add_executable(opbench_guest ${sources})
opbench_compile_options(opbench_guest PLAIN)
target_include_directories(opbench_guest PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(opbench_guest PRIVATE nlohmann_json::nlohmann_json ${CMAKE_DL_LIBS})
target_link_options(opbench_guest PRIVATE -static-libstdc++ -static-libgcc LINKER:-z,now
                    LINKER:--export-dynamic-symbol=TVMFFI*)
install(TARGETS opbench_guest RUNTIME COMPONENT program)
install(TARGETS opbench_guest RUNTIME COMPONENT portable EXCLUDE_FROM_ALL)
# The headers of libraries, for people who have the portable program and no development package.
install(FILES opbench/opbench_plugin.h opbench/plugin.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/opbench
        COMPONENT portable EXCLUDE_FROM_ALL)
