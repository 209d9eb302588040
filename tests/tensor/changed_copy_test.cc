#include "tensor/changed_copy.h"

#include <gmock/gmock.h>

#include <vector>

#include "tensor/elements.h"

namespace opbench {
namespace {

TEST(ChangedCopy, EveryElementByItsPlaceRoundedToItsDType) {
  const TensorDesc desc = describe(DType::fp16, {2, 2});
  const std::vector<double> values = {1, -2, 3, -4};
  std::vector<std::uint16_t> storage(4);
  from_doubles(DType::fp16, values.data(), 4, storage.data());
  const Buffer copy = changed_copy(desc, storage.data(), [](std::int64_t place, double value) {
    return value * (place == 1 ? 1 + 0x1p-12 : 2);
  });
  std::vector<double> changed(4), kept(4);
  read_doubles(desc, copy.data(), {0, 4}, changed);
  read_doubles(desc, storage.data(), {0, 4}, kept);
  EXPECT_THAT(changed, testing::ElementsAre(2, -2, 6, -8));
  EXPECT_EQ(kept, values);
}

// Places count as the shape does, whatever the storage; the channels that fill a block up stay 0.
TEST(ChangedCopy, InTheStorageOfItsFormat) {
  const TensorDesc desc = describe(DType::fp32, {1, 3, 1, 2}, Format::NC1HWC0);
  const std::vector<float> storage(static_cast<std::size_t>(desc.storage_elements()));
  const Buffer copy = changed_copy(
      desc, storage.data(), [](std::int64_t place, double value) { return value + double(place); });
  std::vector<double> changed(6);
  read_doubles(desc, copy.data(), {0, 6}, changed);
  EXPECT_THAT(changed, testing::ElementsAre(0, 1, 2, 3, 4, 5));
}

}  // namespace
}  // namespace opbench
