#include "kernels/foreign/shared_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <utility>

namespace opbench {

TEST(SharedMemory, BlocksAreApartAndUsedAgain) {
  SharedMemory memory;
  SharedMemory::Block first = memory.take(100), second = memory.take(200'000);
  EXPECT_GE(second.offset(), first.offset() + 100);
  first.data()[0] = std::byte{1};
  const std::size_t place = first.offset();
  { const SharedMemory::Block gone = std::move(first); }
  const SharedMemory::Block third = memory.take(100);
  EXPECT_EQ(third.offset(), place);
  EXPECT_EQ(third.data()[0], std::byte{0});
  EXPECT_GE(memory.bytes(), second.offset() + 200'000);
}

TEST(SharedMemory, OthersMapItByTheDescriptor) {
  SharedMemory memory;
  const SharedMemory::Block block = memory.take(10);
  block.data()[3] = std::byte{7};
  void* const view = mmap(nullptr, memory.bytes(), PROT_READ, MAP_SHARED, memory.descriptor(), 0);
  ASSERT_NE(view, MAP_FAILED);
  EXPECT_EQ(static_cast<const std::byte*>(view)[block.offset() + 3], std::byte{7});
  munmap(view, memory.bytes());
}

TEST(SharedMemory, AGuestCannotShrinkIt) {
  SharedMemory memory;
  const SharedMemory::Block block = memory.take(10);
  EXPECT_NE(ftruncate(memory.descriptor(), 0), 0);
}

}  // namespace opbench
