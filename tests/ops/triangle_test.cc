#include <gmock/gmock.h>

#include "tensor/error.h"
#include "tests/on_tensors.h"

namespace opbench {

using testing::HasSubstr;
using testing::ThrowsMessage;

namespace {

// The triangle of 1 2 3 / 4 5 6, by the reference and the variant.
std::vector<double> triangle_of(const char* op, const char* diagonal) {
  const Given x{DType::fp32, {2, 3}, {1, 2, 3, 4, 5, 6}};
  const std::vector<double> y = reference_of_tensors(op, {x}, {{"diagonal", diagonal}})[0];
  EXPECT_EQ(kernel_on_tensors(op, "native", {x}, {{"diagonal", diagonal}})[0], y);
  return y;
}

using Row = std::vector<double>;

}  // namespace

TEST(Triangle, ByHand) {
  EXPECT_EQ(triangle_of("triu", "0"), (Row{1, 2, 3, 0, 5, 6}));
  EXPECT_EQ(triangle_of("triu", "1"), (Row{0, 2, 3, 0, 0, 6}));
  EXPECT_EQ(triangle_of("triu", "-1"), (Row{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(triangle_of("triu", "9"), Row(6, 0));
  EXPECT_EQ(triangle_of("tril", "0"), (Row{1, 0, 0, 4, 5, 0}));
  EXPECT_EQ(triangle_of("tril", "1"), (Row{1, 2, 0, 4, 5, 6}));
  EXPECT_EQ(triangle_of("tril", "-1"), (Row{0, 0, 0, 4, 0, 0}));
  EXPECT_EQ(triangle_of("tril", "-9"), Row(6, 0));
}

TEST(Triangle, OfEveryMatrix) {
  EXPECT_EQ(moved_numbers("triu", {{2, 2, 2}}),
            (std::vector<std::vector<std::int32_t>>{{0, 1, 0, 3, 4, 5, 0, 7}}));
}

TEST(Triangle, Shapes) {
  const auto shape_of = [](const Dims& shape) {
    return problem_with(find_op("triu"), {shape}).outputs[0].shape;
  };
  EXPECT_EQ(shape_of({2, 3, 4}), (Dims{2, 3, 4}));
  EXPECT_THAT([&] { shape_of({3}); },
              ThrowsMessage<Error>(HasSubstr("triu: 'self' has shape 3; allowed: two axes")));
}

}  // namespace opbench
