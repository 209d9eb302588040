#include <gmock/gmock.h>

#include "ops/pool.h"
#include "tensor/error.h"
#include "tests/ops/finite_difference.h"
#include "tests/ops/values.h"

namespace opbench {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(UpsampleNearest2d, HandComputed) {
  for (const DType dtype : {DType::fp32, DType::fp16, DType::bf16}) {
    const Given x{dtype, {1, 1, 2, 2}, {1, 2, 3, 4}};
    expect_values("upsample_nearest2d", {x}, {1, 1, 2, 2, 1, 1, 2, 2, 3, 3, 4, 4, 3, 3, 4, 4});
    // The sources are floor(w*2/3): 0, 0, 1.
    expect_values("upsample_nearest2d", {x}, {1, 1, 2}, {{"output_size", "[1,3]"}});
    // The sources are floor(w/1.5): 0, 0, 1.
    expect_values("upsample_nearest2d", {x}, {1, 1, 2},
                  {{"output_size", "[1,3]"}, {"scale_w", "1.5"}});
  }
  expect_values("upsample_nearest2d_grad", {{DType::fp32, {1, 1, 2, 3}, {1, 2, 3, 4, 5, 6}}},
                {12, 9}, {{"input_size", "[1,2]"}});
}

// A scale may lead beyond the plane; the last place is taken. Source: ATen's
// nearest_neighbor_compute.
TEST(UpsampleNearest2d, PlacesStayInside) {
  expect_values("upsample_nearest2d", {{DType::fp32, {1, 1, 1, 2}, {1, 2}}}, {1, 2, 2, 2},
                {{"output_size", "[1,4]"}, {"scale_w", "1"}});
  expect_values("upsample_nearest2d", {{DType::fp32, {1, 1, 1, 2}, {1, 2}}}, {2, 2},
                {{"output_size", "[1,2]"}, {"scale_w", "1e-45"}});
}

// The scale decides even if the extents are equal or one is twice the other. Source: PyTorch 1.13,
// torch._C._nn.upsample_nearest2d of [1,2,1,6] to [1,6] with scales 1.5 and 1.1, to [1,12] with 3.
TEST(UpsampleNearest2d, AGivenScaleDecides) {
  const Given x{DType::fp32, {1, 2, 1, 6}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}};
  expect_values("upsample_nearest2d", {x}, {0, 0, 1, 2, 3, 4, 6, 6, 7, 8, 9, 10},
                {{"output_size", "[1,6]"}, {"scale_h", "1.5"}, {"scale_w", "1.1"}});
  expect_values("upsample_nearest2d", {x},
                {0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 6, 6, 6, 7, 7, 7, 8, 8, 8, 9, 9, 9},
                {{"output_size", "[1,12]"}, {"scale_w", "3"}});
}

TEST(UpsampleNearest2d, GradientsAgreeWithFiniteDifferences) {
  expect_gradients({"upsample_nearest2d", {spread({1, 2, 2, 3})}, {{"output_size", "[3,7]"}}});
  expect_gradients({"upsample_nearest2d", {spread({1, 1, 4, 4})}, {{"output_size", "[2,3]"}}});
}

TEST(UpsampleNearest2d, NamesWhatItRefuses) {
  const auto refused = [](const char* op, const Dims& shape, const AttrTexts& attrs,
                          const char* text) {
    EXPECT_THAT([&] { problem_with(find_op(op), {shape}, attrs, DType::fp32); },
                ThrowsMessage<Error>(HasSubstr(text)));
  };
  refused("upsample_nearest2d", {2, 3}, {}, "'self' of shape 2x3");
  refused("upsample_nearest2d", {1, 1, 0, 2}, {{"output_size", "2"}}, "an axis of 0 places");
  refused("upsample_nearest2d", {1, 1, 2, 2}, {{"scale_h", "-1"}}, "it must be 0 or more");
  refused("upsample_nearest2d_grad", {1, 1, 2, 2}, {{"input_size", "[0,2]"}},
          "an axis of 0 places");
}

}  // namespace opbench
