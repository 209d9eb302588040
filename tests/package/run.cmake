cmake_minimum_required(VERSION 3.25)
# Installs the build into a fresh prefix, compiles every installed header alone, and builds and runs the examples.
set(prefix ${BUILD_DIR}/package_test/prefix)
set(work ${BUILD_DIR}/package_test/build)
file(REMOVE_RECURSE ${BUILD_DIR}/package_test)

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${ARGN}\nreturned ${code}:\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

# expect(PATTERN COMMAND...): the command must succeed, and its output must match PATTERN.
function(expect pattern)
  run(${ARGN})
  if(NOT output MATCHES "${pattern}")
    message(FATAL_ERROR "${ARGN}\nprinted nothing that matches \"${pattern}\":\n${output}")
  endif()
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${prefix})
run(${CMAKE_COMMAND} -S ${SOURCE_DIR}/tests/package -B ${work} -G ${GENERATOR} -D CMAKE_BUILD_TYPE=Release
    -D CMAKE_CXX_COMPILER=${CXX_COMPILER} -D CMAKE_EXPORT_COMPILE_COMMANDS=ON -D CMAKE_PREFIX_PATH=${prefix})
run(${CMAKE_COMMAND} --build ${work} --parallel 2)

# Only the public headers and those that they include are installed.
file(GLOB_RECURSE internal RELATIVE ${prefix}/include/opbench/internal ${prefix}/include/opbench/internal/*.h)
list(LENGTH internal count)
if(count GREATER 40)
  message(FATAL_ERROR "${count} internal headers are installed: ${internal}")
endif()
foreach(header IN LISTS internal)
  if(header MATCHES "^(cli|compare|dump|harness|text)/")
    message(FATAL_ERROR "a public header includes ${header}")
  endif()
endforeach()

# Kernels of users are compiled like opbench's: the compiler does not fuse multiply-adds.
file(READ ${work}/compile_commands.json commands)
string(JSON count LENGTH "${commands}")
math(EXPR last "${count} - 1")
foreach(i RANGE ${last})
  string(JSON command GET "${commands}" ${i} command)
  if(NOT command MATCHES "-ffp-contract=off")
    message(FATAL_ERROR "without -ffp-contract=off: ${command}")
  endif()
endforeach()

# A user's program prints its own name.
expect("mybench: unknown flag '--nosuch' of run; see mybench --help"
  sh -c "${work}/operator/mybench --nosuch || true")
expect("\"reproduce\": \"mybench --case 'square"
  ${work}/operator/mybench --case "square[4,fp32,ND]" --time 0.01 --repetitions 2 --json -)
expect("1 result: 1 passed"
  ${work}/operator/mybench --case "square[2x3x5x7,fp32,NCHW]" --time 0.01 --repetitions 2)
run(${work}/operator/square_test)
expect("2 results: 2 passed"
  ${work}/page/page_bench --case "square[2x3x5x7,fp16,NCHW]" --time 0.01 --repetitions 2)
expect("softplus_v2_static" ${work}/operator/mybench list softplus)

# A user's variant is listed with its provider, its dtypes and its refusal.
set(mine ${work}/variant/mybench_softplus)
expect("mine +own" ${mine} list softplus)
expect("2 results: 2 passed" ${mine} --case "softplus[2x3x5x7,fp32,NCHW]" --variant native,mine --time 0.01)
expect("skipped: mine: it takes fp32 only, found fp16"
  ${mine} --case "softplus[2x3x5x7,fp16,NCHW]" --variant native,mine --time 0.01)
expect("skipped: mine: it takes a beta above 0 only"
  ${mine} --case "softplus[7,fp32,ND,beta=-1]" --variant native,mine --time 0.01)

# A library of a user needs the headers only.
run(cc -shared -fPIC -I ${prefix}/include -o ${work}/libmine.so ${SOURCE_DIR}/examples/plugin/softplus.c -lm)
expect("\"op\":\"softplus\",\"name\":\"mine\""
  sh -c "echo '{\"do\":\"describe\",\"protocol\":[1,0]}' | ${prefix}/bin/opbench_guest ${work}/libmine.so")

# A crash of a variant affects only its row.
set(broken ${work}/broken/broken_bench)
expect("segfaults [^\n]*ERRORED[^\n]*\n? *:? *crashed: its process was ended by signal 11.*3 results: 1 passed, 2 errored"
  ${CMAKE_COMMAND} -E env COLUMNS=200 sh -c "${broken} --case 'softplus[7,fp32,ND]' --variant native,aborts,segfaults --time 0.01 || test $? -eq 3")
expect("broken_bench: variant 'segfaults' of softplus[^\n]* crashed .SIGSEGV.; leave it out"
  sh -c "${broken} --case 'softplus[7,fp32,ND]' --variant segfaults --time 0.01 --dump ${work}/dump.h5 || test $? -eq 139")
expect("9 samples, median [0-9.]+ us, .* % of copy" ${work}/timing/time_scale)
expect("mixed: failed, .* worst at .*cosine: passed" ${work}/compare/compare_sums)
run(${prefix}/bin/opbench list)
run(${prefix}/bin/opbench --op softplus --shapes ${prefix}/share/opbench/cases/resnet.yaml --dry-run)
foreach(file bin/opbench share/bash-completion/completions/opbench share/zsh/site-functions/_opbench
    share/fish/vendor_completions.d/opbench.fish share/man/man1/opbench.1
    share/doc/opbench/LICENSE)
  file(SIZE ${prefix}/${file} size)
  if(size EQUAL 0)
    message(FATAL_ERROR "${file} is empty")
  endif()
endforeach()
