#include "ops/movement.h"

#include <gmock/gmock.h>

#include <cstring>

#include "tensor/error.h"

namespace opbench {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(Moved, JoinsRunsOfInputsAndZeros) {
  Tensor a(describe(DType::int32, {4})), b(describe(DType::int32, {4}));
  for (int i = 0; i < 4; ++i) a.as<std::int32_t>()[i] = i, b.as<std::int32_t>()[i] = 10 + i;
  const InputReader inputs[] = {{a.desc, a.data()}, {b.desc, b.data()}};
  // The expected bytes are a1 a2 a3, two zeros, then b0 ...
  const ExactReference reference = moved(inputs, [](std::size_t, std::int64_t i) -> SourceRun {
    if (i < 3) return {0, 1 + i, 3 - i};
    if (i < 5) return {SourceRun::kZeros, 0, 5 - i};
    return {1, i - 5, 4};
  });
  std::int32_t out[7];
  reference(0, {0, 7}, out);
  EXPECT_THAT(out, ElementsAre(1, 2, 3, 0, 0, 10, 11));
  reference(0, {2, 4}, out);
  EXPECT_THAT(std::vector<int>(out, out + 4), ElementsAre(3, 0, 0, 10)) << "any cut";
}

// The payload of a NaN must be copied unchanged.
TEST(Moved, KeepsNanPayloads) {
  Tensor a(describe(DType::fp32, {1}));
  const std::uint32_t payload = 0x7F812345;
  std::memcpy(a.data(), &payload, 4);
  const InputReader inputs[] = {{a.desc, a.data()}};
  std::uint32_t out = 0;
  moved(inputs, [](std::size_t, std::int64_t) { return SourceRun{}; })(0, {0, 1}, &out);
  EXPECT_EQ(out, payload);
}

TEST(AxisOf, CountsFromTheBackToo) {
  EXPECT_EQ(axis_of("concat", {2, 3, 4}, -1), 2u);
  EXPECT_EQ(axis_of("concat", {2, 3, 4}, 0), 0u);
  EXPECT_THAT(
      [] {
        axis_of("concat", {2, 3, 4}, 3);
      },
      ThrowsMessage<Error>(
          HasSubstr("concat: axis 3 is out of range for shape 2x3x4; allowed: -3 to 2")));
}

TEST(AxisView, IsOuterExtentInner) {
  const AxisView view({2, 3, 4, 5}, 1);
  EXPECT_EQ(view.outer, 2);
  EXPECT_EQ(view.extent, 3);
  EXPECT_EQ(view.inner, 20);
}

}  // namespace opbench
