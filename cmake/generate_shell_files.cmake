# cmake -D PROGRAM=... -D DIRECTORY=... -P generate_shell_files.cmake
cmake_minimum_required(VERSION 3.25)
file(MAKE_DIRECTORY ${DIRECTORY})
foreach(pair bash:opbench zsh:_opbench fish:opbench.fish man:opbench.1)
  string(REPLACE ":" ";" pair ${pair})
  list(GET pair 0 what)
  list(GET pair 1 file)
  execute_process(COMMAND ${PROGRAM} __generate ${what} OUTPUT_FILE ${DIRECTORY}/${file}
                  RESULT_VARIABLE result ERROR_VARIABLE error)
  if(NOT result EQUAL 0)
    file(REMOVE ${DIRECTORY}/${file})
    message(WARNING "${file} is left out: ${PROGRAM} __generate ${what}: ${result} ${error}")
  endif()
endforeach()
