#include <gmock/gmock.h>

#include "tensor/error.h"
#include "tests/on_tensors.h"

namespace opbench {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsNan;
using testing::ThrowsMessage;

// Source: the frequencies of rotary embeddings, 10000^(2i/8).
TEST(PowTensor, ByHand) {
  const std::vector<Given> inputs = {{DType::fp32, {}, {10000}},
                                     {DType::fp32, {4}, {0, 0.25, 0.5, 0.75}}};
  const auto powers =
      ElementsAre(1, DoubleNear(10, 1e-5), DoubleNear(100, 1e-4), DoubleNear(1000, 1e-3));
  EXPECT_THAT(reference_of_tensors("pow_tensor", inputs)[0], powers);
  EXPECT_THAT(kernel_on_tensors("pow_tensor", "native", inputs)[0], powers);
  const std::vector<Given> signs = {{DType::fp32, {4}, {-2, -2, -2, 0}},
                                    {DType::fp32, {4}, {3, -1, 0.5, 0}}};
  EXPECT_THAT(reference_of_tensors("pow_tensor", signs)[0], ElementsAre(-8, -0.5, IsNan(), 1));
}

TEST(PowTensor, Shapes) {
  const auto shape_of = [](const std::vector<Dims>& shapes) {
    return problem_with(find_op("pow_tensor"), shapes, {}, DType::fp32).outputs[0].shape;
  };
  EXPECT_EQ(shape_of({{2, 1}, {3}}), (Dims{2, 3}));
  EXPECT_THAT([&] { shape_of({{2}, {3}}); }, ThrowsMessage<Error>(HasSubstr("pow_tensor")));
}

}  // namespace opbench
