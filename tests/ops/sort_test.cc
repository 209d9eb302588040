#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "tensor/error.h"
#include "tests/on_tensors.h"

namespace opbench {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsNan;
using testing::ThrowsMessage;

// Source: the example of torch.sort's documentation for a stable sort.
TEST(Sort, PublishedStableExample) {
  std::vector<double> x, indices;
  for (int i = 0; i < 9; ++i) x.push_back(0), x.push_back(1);
  for (int i = 0; i < 18; i += 2) indices.push_back(i);
  for (int i = 1; i < 18; i += 2) indices.push_back(i);
  const Values sorted = reference_of_tensors("sort", {{DType::fp32, {18}, x}});
  EXPECT_EQ(sorted[0], (std::vector<double>{0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(sorted[1], indices);
}

// By hand, with torch's rule: NaN is the greatest, and -0 equals +0.
TEST(Sort, PutsNanLastAndFirstInDescendingOrder) {
  const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
  const std::vector<Given> inputs = {{DType::fp16, {7}, {nan, 0.0, inf, -0.0, nan, -inf, 2}}};
  for (const char* variant : {"native", "sort"}) {
    const Values up = kernel_on_tensors("sort", variant, inputs);
    EXPECT_THAT(up[0], ElementsAre(-inf, 0, 0, 2, inf, IsNan(), IsNan())) << variant;
    EXPECT_THAT(up[1], ElementsAre(5, 1, 3, 6, 2, 0, 4)) << variant;
    const Values down = kernel_on_tensors("sort", variant, inputs, {{"descending", "true"}});
    EXPECT_THAT(down[1], ElementsAre(0, 4, 2, 6, 1, 3, 5)) << variant;
  }
  EXPECT_THAT(reference_of_tensors("sort", inputs)[1], ElementsAre(5, 1, 3, 6, 2, 0, 4));
  EXPECT_THAT(reference_of_tensors("argsort", inputs, {{"descending", "true"}})[0],
              ElementsAre(0, 4, 2, 6, 1, 3, 5));
}

// Columns of [[3, 1], [1, 2], [3, 0]] are sorted in descending order. Equal elements keep their
// order.
TEST(Sort, AlongAnotherAxis) {
  const std::vector<Given> inputs = {{DType::int64, {3, 2}, {3, 1, 1, 2, 3, 0}}};
  const AttrTexts attrs = {{"axis", "0"}, {"descending", "true"}};
  for (const char* variant : {"native", "cast_fp32"}) {
    const Values sorted = kernel_on_tensors("sort", variant, inputs, attrs);
    EXPECT_THAT(sorted[0], ElementsAre(3, 2, 3, 1, 1, 0)) << variant;
    EXPECT_THAT(sorted[1], ElementsAre(0, 1, 2, 0, 1, 2)) << variant;
    EXPECT_THAT(kernel_on_tensors("argsort", variant, inputs, attrs)[0],
                ElementsAre(0, 1, 2, 0, 1, 2));
  }
}

// 2^24 and 2^24 + 1 are equal in fp32, so their order is lost.
TEST(Sort, CastToFp32TiesBeyondItsPrecision) {
  const std::vector<Given> inputs = {{DType::int64, {2}, {16777217, 16777216}}};
  EXPECT_THAT(kernel_on_tensors("sort", "native", inputs)[1], ElementsAre(1, 0));
  EXPECT_THAT(kernel_on_tensors("sort", "cast_fp32", inputs)[1], ElementsAre(0, 1));
}

// Long lines take the radix sort. They contain both signs, ties, and lines of one value, in all
// dtypes.
TEST(Sort, KeysAgreeWithComparisonsOnLongLines) {
  std::vector<double> x(6000);
  for (std::size_t i = 0; i < 3000; ++i) x[i] = double(i * 7919 % 1201) - 600;
  for (std::size_t i = 3000; i < 6000; ++i) x[i] = 5;
  for (const char* descending : {"false", "true"}) {
    const AttrTexts attrs = {{"descending", descending}};
    for (const DType dtype : {DType::fp32, DType::fp16, DType::int64, DType::int32}) {
      const std::vector<Given> inputs = {{dtype, {2, 3000}, x}};
      const char* variant = is_floating(dtype) ? "sort" : "cast_fp32";
      EXPECT_EQ(kernel_on_tensors("sort", variant, inputs, attrs, 2),
                reference_of_tensors("sort", inputs, attrs))
          << name(dtype);
    }
  }
}

TEST(Sort, VariantsNameWhatTheyRefuse) {
  const Op& op = find_op("sort");
  const Problem bytes = make_problem(op, {describe(DType::uint8, {4})}, Attrs(op.attrs));
  EXPECT_EQ(refusal(find_kernel("sort", "cast_fp32"), bytes),
            "it takes int64, int32 only, found uint8");
  EXPECT_EQ(refusal(find_kernel("sort", "sort"), bytes),
            "it takes fp32, fp16, bf16 only, found uint8");
}

TEST(Sort, NamesAnAxisOutOfRange) {
  EXPECT_THAT(
      [] {
        reference_of_tensors("argsort", {{DType::fp32, {2}, {0, 0}}}, {{"axis", "1"}});
      },
      ThrowsMessage<Error>(HasSubstr("argsort: axis 1 is out of range for shape 2")));
}

}  // namespace opbench
