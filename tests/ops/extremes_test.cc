#include <gmock/gmock.h>

#include <cmath>

#include "tensor/error.h"
#include "tests/ops/values.h"
#include "tests/support.h"

namespace opbench {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsNan;
using testing::NanSensitiveDoubleEq;
using testing::ThrowsMessage;

namespace {

const Given kTwoRows{kFp32, {2, 3}, {3, -1, 4, 1, -5, 9}};

Dims extremes_shape(const Dims& shape, const AttrTexts& attrs) {
  return problem_with(find_op("amax"), {shape}, attrs, kFp32).outputs[0].shape;
}

}  // namespace

TEST(Extremes, ByHand) {
  const auto of = [](const char* op, const char* axes) {
    return reference_of_tensors(op, {kTwoRows}, {{"axes", axes}})[0];
  };
  EXPECT_THAT(of("amax", "[]"), ElementsAre(9));
  EXPECT_THAT(of("amax", "[0]"), ElementsAre(3, -1, 9));
  EXPECT_THAT(of("amin", "[1]"), ElementsAre(-1, -5));
}

TEST(Extremes, IntegersAreExact) {
  const Given x{DType::uint8, {2, 2}, {7, 200, 0, 255}};
  EXPECT_THAT(kernel_on_tensors("amax", "native", {x})[0], ElementsAre(255));
  EXPECT_THAT(kernel_on_tensors("amin", "native", {x}, {{"axes", "[1]"}})[0], ElementsAre(7, 0));
  const Given y{DType::int64, {3}, {-4611686018427387904.0, 3, -9}};
  EXPECT_THAT(kernel_on_tensors("amin", "native", {y})[0], ElementsAre(-4611686018427387904.0));
  EXPECT_EQ(reference_of_tensors("amin", {y}), kernel_on_tensors("amin", "native", {y}));
}

TEST(Extremes, NaNStays) {
  for (const char* op : {"amax", "amin"}) {
    const Given x{kFp32, {3}, {1, std::nan(""), 2}};
    EXPECT_THAT(reference_of_tensors(op, {x})[0], ElementsAre(IsNan()));
    EXPECT_THAT(kernel_on_tensors(op, "native", {x})[0], ElementsAre(IsNan()));
  }
}

TEST(Extremes, Shapes) {
  EXPECT_EQ(extremes_shape({2, 3}, {}), Dims{});
  EXPECT_EQ(extremes_shape({2, 3}, {{"axes", "[-1]"}, {"keep_dims", "true"}}), (Dims{2, 1}));
  EXPECT_EQ(extremes_shape({0, 3}, {{"axes", "[1]"}}), Dims{0});
  EXPECT_THAT(
      [] {
        extremes_shape({0, 3}, {{"axes", "[0]"}});
      },
      ThrowsMessage<Error>(HasSubstr("amax: 'self' has no elements to choose from")));
}

// Row r has its extreme, or a NaN, at place r. The lengths are around those of vectors.
TEST(Extremes, AreFoundAtEveryPlace) {
  for (const std::int64_t count : {1, 3, 4, 7, 8, 9, 16, 17, 33, 65, 70}) {
    for (const double extreme : {9.0, -9.0, std::nan("")}) {
      Given x{kFp32, {count, count}, std::vector<double>(std::size_t(count * count), 1)};
      for (std::int64_t r = 0; r < count; ++r) x.values[std::size_t(r * count + r)] = extreme;
      on_every_isa([&] {
        const char* const op = extreme < 0 ? "amin" : "amax";
        EXPECT_THAT(kernel_on_tensors(op, "native", {x}, {{"axes", "[1]"}})[0],
                    Each(NanSensitiveDoubleEq(extreme)))
            << count;
      });
    }
  }
}

TEST(Extremes, KernelsAgreeOnEverySetOfAxes) {
  for (const Dims& shape : {Dims{3, 2, 1100}, Dims{30, 7, 2}, Dims{2, 7, 1030}}) {
    Given x{kFp32, shape, {}};
    for (std::int64_t i = 0; i < element_count(shape); ++i) {
      x.values.push_back(double(i * 7919 % 1001) - 400);
    }
    for (const char* axes : {"[]", "[0]", "[1]", "[2]", "[0,1]", "[0,2]", "[1,2]"}) {
      for (const char* op : {"amax", "amin"}) {
        EXPECT_EQ(kernel_on_tensors(op, "native", {x}, {{"axes", axes}}, 2),
                  reference_of_tensors(op, {x}, {{"axes", axes}}))
            << op << " of " << to_string(shape) << ", axes " << axes;
      }
    }
  }
}

}  // namespace opbench
