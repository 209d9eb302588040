# The Python package with the program's table of operators, for `pip install build/release/python`. Skipped if the
# program cannot run here.
set(OPBENCH_PYTHON_DIR ${CMAKE_CURRENT_BINARY_DIR}/python)
if(NOT CMAKE_CROSSCOMPILING OR CMAKE_CROSSCOMPILING_EMULATOR)
  file(GLOB modules CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/python/opbench_torch/*.py)
  set(project_file ${CMAKE_CURRENT_SOURCE_DIR}/python/pyproject.toml)
  set(table ${OPBENCH_PYTHON_DIR}/opbench_torch/op_table.json)
  add_custom_command(OUTPUT ${table}
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${OPBENCH_PYTHON_DIR}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${OPBENCH_PYTHON_DIR}/opbench_torch
    COMMAND ${CMAKE_COMMAND} -E copy ${project_file} ${OPBENCH_PYTHON_DIR}
    COMMAND ${CMAKE_COMMAND} -E copy ${modules} ${OPBENCH_PYTHON_DIR}/opbench_torch
    COMMAND opbench opmap --as json > ${table}
    DEPENDS opbench ${modules} ${project_file}
    COMMENT "Putting the Python package together" VERBATIM)
  add_custom_target(opbench_torch ALL DEPENDS ${table})
endif()
install(DIRECTORY ${OPBENCH_PYTHON_DIR} DESTINATION ${CMAKE_INSTALL_DATADIR}/opbench COMPONENT data OPTIONAL)
