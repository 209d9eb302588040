# Toolchain for 64-bit Arm on Debian 12. `build.sh aarch64` makes the sysroot from Debian's packages for arm64.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
cmake_path(SET CMAKE_SYSROOT NORMALIZE ${CMAKE_CURRENT_LIST_DIR}/../build/aarch64-sysroot)
# Variables instead of flags, because opbench starts itself again. The processor has NEON and no SVE, as Kunpeng 920: where
# it has SVE of 512 bits, as the default of qemu, oneDNN runs other code.
set(CMAKE_CROSSCOMPILING_EMULATOR env QEMU_LD_PREFIX=${CMAKE_SYSROOT} QEMU_CPU=neoverse-n1 qemu-aarch64-static)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
foreach(kind LIBRARY INCLUDE PACKAGE)
  set(CMAKE_FIND_ROOT_PATH_MODE_${kind} ONLY)
endforeach()
# With a root, FindHDF5 does not ask h5c++, which names the libraries of this machine.
set(HDF5_ROOT /usr/lib/aarch64-linux-gnu/hdf5/serial)
