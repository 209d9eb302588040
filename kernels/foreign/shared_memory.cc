#include "kernels/foreign/shared_memory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "tensor/error.h"

namespace opbench {
namespace {

constexpr std::size_t kPage = 64 * 1024;  // bytes; the largest page of Arm servers

[[noreturn]] void fail(const char* what, std::size_t bytes) {
  throw RunError(
      fmt::format("cannot {} {} bytes of shared memory: {}", what, bytes, std::strerror(errno)));
}

}  // namespace

SharedMemory::SharedMemory()
    : descriptor_(memfd_create("opbench", MFD_CLOEXEC | MFD_ALLOW_SEALING)) {
  // Access to pages that a guest has cut off would end this process.
  if (descriptor_ < 0 || fcntl(descriptor_, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_SEAL) != 0)
    fail("make", 0);
}

SharedMemory::~SharedMemory() { close(descriptor_); }

SharedMemory::Block SharedMemory::take(std::size_t bytes) {
  const std::size_t wanted = (bytes / kPage + 1) * kPage;
  std::size_t offset = 0;
  for (const auto& [begin, used] : taken_) {
    if (begin - offset >= wanted) break;
    offset = begin + used;
  }
  // Reserves the pages, because a missing page at the first access would end this process.
  const int error =
      posix_fallocate(descriptor_, static_cast<off_t>(offset), static_cast<off_t>(wanted));
  errno = error;
  if (error != 0) fail("get", bytes);
  void* const data = mmap(nullptr, wanted, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_,
                          static_cast<off_t>(offset));
  if (data == MAP_FAILED) fail("map", bytes);
  Block block;
  block.owner_ = this;
  block.offset_ = offset;
  block.bytes_ = wanted;
  block.data_ = static_cast<std::byte*>(data);
  taken_.emplace(offset, wanted);
  bytes_ = std::max(bytes_, offset + wanted);
  return block;
}

SharedMemory::Block& SharedMemory::Block::operator=(Block&& other) noexcept {
  if (this == &other) return *this;
  release();
  owner_ = std::exchange(other.owner_, nullptr);
  offset_ = other.offset_;
  bytes_ = other.bytes_;
  data_ = other.data_;
  return *this;
}

// Gives the pages back to the system. The guest's view of them becomes zero.
void SharedMemory::Block::release() {
  if (owner_ == nullptr) return;
  munmap(data_, bytes_);
  fallocate(owner_->descriptor_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
            static_cast<off_t>(offset_), static_cast<off_t>(bytes_));
  owner_->taken_.erase(offset_);
  owner_ = nullptr;
}

}  // namespace opbench
