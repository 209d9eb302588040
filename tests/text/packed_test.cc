#include "text/packed.h"

#include <gtest/gtest.h>

#include "tensor/error.h"

namespace opbench {
namespace {

TEST(Packed, GivesBackWhatWasAddedAndRefusesMore) {
  Packer packer;
  packer.add(7);
  packer.add(std::string("text"));
  packer.add(0.5L);
  const std::string text = packer.take();
  Unpacker unpacker(text);
  EXPECT_EQ(unpacker.get<int>(), 7);
  EXPECT_EQ(unpacker.get_text(), "text");
  EXPECT_EQ(unpacker.get<long double>(), 0.5L);
  EXPECT_TRUE(unpacker.is_empty());
  EXPECT_THROW(unpacker.get<int>(), RunError);
}

}  // namespace
}  // namespace opbench
