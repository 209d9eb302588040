#include "ops/dynamic_quant.h"

#include <gmock/gmock.h>

#include <cmath>

#include "tensor/error.h"
#include "tests/on_tensors.h"

namespace opbench {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

// scale = 254/127 = 2.
TEST(DynamicQuant, LargestBecomes127) {
  EXPECT_THAT(reference_values("dynamic_quant", DType::fp32, {{254, -2, 3}}),
              ElementsAre(127, -1, 2))
      << "1.5 goes to even";
}

TEST(DynamicQuant, ARowOfZerosStaysZero) {
  const Op& op = find_op("dynamic_quant");
  const Problem problem = problem_with(op, {{1, 2}}, {}, DType::fp16);
  Tensor x(problem.inputs[0]), y(problem.outputs[0]), scale(problem.outputs[1]);
  fill(x, {DistributionKind::constant, 0, 0}, 1);
  for (const Kernel* kernel : kernels_of("dynamic_quant")) {
    y.as<std::int8_t>()[1] = 77;
    run_kernel(*kernel, problem, {&x}, {&y, &scale});
    EXPECT_EQ(y.as<std::int8_t>()[1], 0) << kernel->name;
    EXPECT_EQ(*scale.as<float>(), 0) << kernel->name;
  }
}

TEST(DynamicQuant, ZerosAndNaN) {
  const AttrTexts fp8 = {{"dst_type", "fp8_e4m3fn"}};
  const Given zeros{DType::fp32, {1, 2}, {0, 0}};
  for (const char* op : {"dynamic_quant", "dynamic_block_quant"}) {
    EXPECT_THAT(reference_of_tensors(op, {zeros}, fp8)[0], ElementsAre(0, 0));
    for (const Kernel* kernel : kernels_of(op)) {
      EXPECT_THAT(kernel_on_tensors(op, kernel->name, {zeros}, fp8)[0], ElementsAre(0, 0));
    }
  }
  const double nan = std::nan("");
  EXPECT_THAT(reference_of_tensors("dynamic_quant", {{DType::fp32, {1, 3}, {1, nan, 2}}})[1],
              ElementsAre(testing::IsNan()));
}

TEST(DynamicQuant, NamesWhatItRefuses) {
  const Given x{DType::fp32, {2, 2}, {1, 2, 3, 4}}, smooth{DType::fp32, {2, 2}, {1, 1, 2, 2}};
  const auto refused = [&](const Given& scales, const Given& ends, const char* message) {
    EXPECT_THAT(
        [&] {
          reference_of_tensors("dynamic_quant", {x, scales, ends});
        },
        ThrowsMessage<Error>(HasSubstr(message)));
  };
  refused({DType::fp32, {0, 2}, {}}, {DType::int64, {1}, {2}}, "'smooth_scales' has shape 0x2");
  refused({DType::fp32, {}, {1}}, {DType::int64, {1}, {2}}, "'smooth_scales' has shape");
  refused(smooth, {DType::int64, {2}, {2, 1}}, "ends a group at 1 after 2; allowed: ascending");
  refused(smooth, {DType::int64, {2}, {1, 3}}, "allowed: ascending, at most 2 rows");
  refused(smooth, {DType::int64, {2}, {-1, 2}}, "ends a group at -1 after 0");
  EXPECT_THAT(
      [] {
        reference_of_tensors("dynamic_quant", {{DType::fp32, {1, 2}, {3, 3}}},
                             {{"symmetric", "false"}});
      },
      ThrowsMessage<Error>(HasSubstr("'x' has equal numbers in a group")));
}

// scale = (255 - 0)/255 = 1, offset = 127 - 255 = -128.
TEST(DynamicQuant, AsymmetricUsesTheWholeRange) {
  EXPECT_THAT(
      reference_values("dynamic_quant", DType::fp32, {{0, 255, 100}}, {{"symmetric", "false"}}),
      ElementsAre(-128, 127, -28));
}

TEST(DynamicQuant, GroupsByMode) {
  const Op& op = find_op("dynamic_quant");
  const Dims shape = {2, 3, 4};
  EXPECT_EQ(quant_groups(shape, attrs_of(op, {})).scale_shape, (Dims{2, 3}));
  EXPECT_EQ(quant_groups(shape, attrs_of(op, {{"quant_mode", "pertensor"}})).scale_shape,
            (Dims{1}));
  const QuantGroups columns = quant_groups(shape, attrs_of(op, {{"quant_mode", "perchannel"}}));
  EXPECT_EQ(columns.scale_shape, (Dims{2, 4}));
  EXPECT_EQ(columns.first(5), 13) << "column 1 of matrix 1";
  EXPECT_THAT(
      [&] {
        quant_groups({3}, attrs_of(op, {{"quant_mode", "perchannel"}}));
      },
      ThrowsMessage<Error>(HasSubstr("allowed with perchannel: 2 or more axes")));
}

TEST(DynamicBlockQuant, TakesTheLargestBlocks) {
  const AttrTexts largest = {{"row_block_size", "9223372036854775807"},
                             {"col_block_size", "9223372036854775807"}};
  const Values y =
      reference_of_tensors("dynamic_block_quant", {{DType::fp32, {1, 2}, {448, 224}}}, largest);
  EXPECT_THAT(y[0], ElementsAre(448, 224));
  EXPECT_THAT(y[1], ElementsAre(1));
}

TEST(DynamicBlockQuant, CutsBlocksAtTheEdges) {
  const Attrs attrs =
      attrs_of(find_op("dynamic_block_quant"), {{"row_block_size", "2"}, {"col_block_size", "4"}});
  std::vector<std::int64_t> sizes;
  for_each_block({3, 5}, attrs, [&](const QuantBlock& b) { sizes.push_back(b.rows * b.width); });
  EXPECT_THAT(sizes, ElementsAre(8, 2, 4, 1));
}

}  // namespace opbench
