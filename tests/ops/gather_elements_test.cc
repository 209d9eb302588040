#include <gmock/gmock.h>

#include "tensor/error.h"
#include "tests/on_tensors.h"

namespace opbench {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

// Source: the example of torch.gather's documentation.
TEST(GatherElements, PublishedExample) {
  const std::vector<Given> inputs = {{DType::fp32, {2, 2}, {1, 2, 3, 4}},
                                     {DType::int64, {2, 2}, {0, 0, 1, 0}}};
  EXPECT_THAT(reference_of_tensors("gather_elements", inputs, {{"dim", "1"}})[0],
              ElementsAre(1, 1, 4, 3));
}

// By hand: y[i][j] = x[index[i][j]][j]. The index may be shorter than x on every other axis, and
// longer along dim.
TEST(GatherElements, AlongTheFirstAxis) {
  const std::vector<Given> inputs = {{DType::int16, {2, 3}, {1, 2, 3, 4, 5, 6}},
                                     {DType::int32, {3, 2}, {1, 0, 0, 1, 1, 1}}};
  const auto expected = ElementsAre(4, 2, 1, 5, 4, 5);
  EXPECT_THAT(reference_of_tensors("gather_elements", inputs)[0], expected);
  EXPECT_THAT(kernel_on_tensors("gather_elements", "native", inputs)[0], expected);
  EXPECT_THAT(kernel_on_tensors("gather_elements", "gather_elements", inputs)[0], expected);
}

// Tries every axis of four with the other axes shortened, and both index dtypes.
TEST(GatherElements, KernelsAgreeOnEveryAxis) {
  std::vector<double> x(3 * 4 * 5 * 6);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = double(i);
  for (const DType dtype : {DType::int64, DType::int32}) {
    for (const Dims& shape : {Dims{3, 4, 5, 6}, Dims{3, 4, 5, 2}, Dims{2, 3, 3, 6}}) {
      std::vector<double> index(static_cast<std::size_t>(element_count(shape)));
      for (std::size_t i = 0; i < index.size(); ++i) index[i] = double(i * 7 % 3);
      const std::vector<Given> inputs = {{DType::fp32, {3, 4, 5, 6}, x}, {dtype, shape, index}};
      for (const char* dim : {"0", "1", "2", "3", "-1"}) {
        const AttrTexts attrs = {{"dim", dim}};
        const Values expected = reference_of_tensors("gather_elements", inputs, attrs);
        for (const char* variant : {"native", "gather_elements"}) {
          for (const int threads : {1, 3}) {
            EXPECT_EQ(kernel_on_tensors("gather_elements", variant, inputs, attrs, threads),
                      expected)
                << variant << " along " << dim << " with index " << to_string(shape);
          }
        }
      }
    }
  }
}

TEST(GatherElements, NamesWhatDoesNotFit) {
  const auto error = [](Dims x, Dims index, std::vector<double> values) {
    return [=] {
      const std::vector<double> zeros(static_cast<std::size_t>(element_count(x)));
      reference_of_tensors("gather_elements",
                           {{DType::fp32, x, zeros}, {DType::int64, index, values}});
    };
  };
  EXPECT_THAT(error({2, 2}, {2}, {0, 0}),
              ThrowsMessage<Error>(HasSubstr("'index' has shape 2, 'x' has 2x2; they must have "
                                             "the same rank")));
  EXPECT_THAT(error({3, 2}, {1, 3}, {0, 0, 0}),
              ThrowsMessage<Error>(HasSubstr("axis 1 of 'index' must be at most that of 'x'")));
  EXPECT_THAT(error({2, 2}, {1, 2}, {0, 2}),
              ThrowsMessage<Error>(HasSubstr("gather_elements: index[1] is 2; allowed: 0 to 1")));
  EXPECT_THAT(error({2, 2}, {1, 2}, {0, -1}), ThrowsMessage<Error>(HasSubstr("index[1] is -1")));
}

// Only the elements of a large x that the index names are counted.
TEST(GatherElements, CountsWhatItReads) {
  const Op& op = find_op("gather_elements");
  const Problem problem = make_problem(
      op, {describe(DType::fp32, {1000, 2}), describe(DType::int64, {3, 2})}, Attrs(op.attrs));
  const Traffic traffic = op.traffic(problem);
  EXPECT_EQ(traffic.bytes_read, 6 * 4 + 6 * 8);
  EXPECT_EQ(traffic.bytes_written, 6 * 4);
}

}  // namespace opbench
