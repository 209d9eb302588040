// Tests the padding that operators write if they compute on the storage as it is.
#include <gmock/gmock.h>

#include <algorithm>

#include "tensor/error.h"
#include "tests/conforms.h"
#include "tests/evaluate.h"

namespace opbench {
namespace {

// Like a convolution with 58 groups: four groups fill a block that is zero elsewhere.
TensorDesc grouped_weight(DType dtype) {
  TensorDesc desc = describe(dtype, {58, 1, 3, 3}, Format::FRACTAL_Z);
  desc.groups = 58;
  return desc;
}

std::vector<TensorDesc> padded(DType dtype) {
  return {describe(dtype, {24, 3, 3, 3}, Format::FRACTAL_Z), grouped_weight(dtype),
          describe(dtype, {58}, Format::NC1HWC0), describe(dtype, {2, 18, 3, 5}, Format::NC1HWC0)};
}

// Ones at the elements, zeros in the padding.
Tensor ones(const TensorDesc& desc) {
  Tensor tensor(desc);
  std::fill_n(tensor.as<std::byte>(), desc.bytes(), std::byte{0});
  fill(tensor, {DistributionKind::constant, 1, 0}, 1);
  return tensor;
}

// The number of stored values that are not zero.
std::int64_t nonzero(const Tensor& tensor) {
  std::vector<double> values(static_cast<std::size_t>(tensor.desc.storage_elements()));
  to_doubles(tensor.desc.dtype, tensor.data(), std::ssize(values), values.data());
  return std::count_if(values.begin(), values.end(), [](double value) { return value != 0; });
}

void expect_zero_padding(const Op& op, const AttrTexts& attrs, const TensorDesc& desc) {
  const std::vector<TensorDesc> inputs(op.inputs.size(), desc);
  const Problem problem = make_problem(op, inputs, attrs_of(op, attrs));
  for (const Kernel* kernel : kernels_of(op.name)) {
    if (!refusal(*kernel, problem).empty()) continue;
    SCOPED_TRACE(std::string(kernel->name) + " on " + to_string(desc));
    const std::vector<Tensor> tensors = [&] {
      std::vector<Tensor> made;
      for (const TensorDesc& input : inputs) made.push_back(ones(input));
      return made;
    }();
    std::vector<const Tensor*> pointers;
    for (const Tensor& tensor : tensors) pointers.push_back(&tensor);
    Tensor output = poisoned(problem.outputs[0]);
    run_kernel(*kernel, problem, pointers, {&output}, 2);
    EXPECT_EQ(nonzero(output), desc.elements());
    EXPECT_TRUE(expect_conforms(*kernel, problem, 2));
  }
}

TEST(StorageFormats, ElementwiseOperatorsKeepThePaddingZero) {
  for (const DType dtype : {DType::fp32, DType::fp16}) {
    for (const TensorDesc& desc : padded(dtype)) {
      for (const char* op : {"add", "mul", "relu", "relu_grad"}) {
        expect_zero_padding(find_op(op), {}, desc);
      }
      expect_zero_padding(find_op("axpy"), {{"alpha", "-0.5"}}, desc);
      expect_zero_padding(find_op("muls"), {{"value", "-3"}}, desc);
      expect_zero_padding(find_op("cast"), {{"to", "fp16"}}, desc);
      expect_zero_padding(find_op("cast"), {{"to", "fp32"}}, desc);
    }
  }
}

TEST(StorageFormats, CastKeepsBlocksAndGroups) {
  const Op& cast = find_op("cast");
  TensorDesc expected = grouped_weight(DType::fp16);
  EXPECT_EQ(make_problem(cast, {grouped_weight(DType::fp32)}, attrs_of(cast, {})).outputs[0],
            expected);
  TensorDesc narrow = describe(DType::fp32, {58}, Format::NC1HWC0);
  narrow.c0 = 8;
  expected = describe(DType::fp16, {58}, Format::NC1HWC0);
  expected.c0 = 8;
  EXPECT_EQ(make_problem(cast, {narrow}, attrs_of(cast, {})).outputs[0], expected);
}

TEST(StorageFormats, CastToADtypeOfAnotherBlockIsRefused) {
  const Op& cast = find_op("cast");
  const auto to_int8 = attrs_of(cast, {{"to", "int8"}});
  EXPECT_THAT(
      [&] {
        make_problem(cast, {describe(DType::fp16, {2, 18, 3, 5}, Format::NC1HWC0)}, to_int8);
      },
      testing::ThrowsMessage<Error>(testing::HasSubstr(
          "cast from fp16 to int8 in NC1HWC0: blocks of 16 are not blocks of 32")));
  EXPECT_NO_THROW(make_problem(cast, {describe(DType::fp16, {2, 18, 3, 5})}, to_int8));
}

}  // namespace
}  // namespace opbench
