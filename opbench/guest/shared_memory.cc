#include "opbench/guest/shared_memory.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>

namespace opbench::guest {

void SharedMemory::grow(std::size_t bytes) {
  if (bytes <= bytes_) return;
  struct stat file = {};
  if (fstat(kDescriptor, &file) != 0 || std::size_t(file.st_size) < bytes)
    throw std::runtime_error("descriptor 3 is not a shared memory of " + std::to_string(bytes) +
                             " bytes");
  void* mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, kDescriptor, 0);
  if (mapped == MAP_FAILED)
    throw std::runtime_error("the shared memory of " + std::to_string(bytes) +
                             " bytes cannot be mapped: " + std::strerror(errno));
  data_ = static_cast<std::byte*>(mapped);
  bytes_ = bytes;
}

}  // namespace opbench::guest
