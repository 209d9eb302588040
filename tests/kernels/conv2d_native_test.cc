// Tests a framework's convolutions in plain formats and their gradients. Sizes are around every
// vector of places and of outputs, strips of an image, and several images at a time. Strides and
// padding exceed the kernel.
#include <gtest/gtest.h>

#include <cstring>
#include <optional>

#include "tests/conforms.h"
#include "tests/evaluate.h"
#include "tests/support.h"

namespace opbench {
namespace {

struct PlainConvolution {
  Dims x, weight;
  AttrTexts attrs = {};
};

std::vector<PlainConvolution> plain_convolutions() {
  std::vector<PlainConvolution> all;
  for (const std::int64_t w : {1, 2, 7, 14, 15, 16, 17, 31, 32, 33}) {
    all.push_back({{2, 3, 3, w}, {5, 3, 3, 3}, {{"padding", "1"}}});
    all.push_back({{2, 3, 4, w}, {5, 3, 1, 1}});
    all.push_back({{2, 3, 3, w}, {3, 1, 3, 3}, {{"padding", "1"}, {"groups", "3"}}});
  }
  for (const std::int64_t m : {1, 4, 5, 8, 9, 15, 16, 17, 33}) {
    all.push_back({{1, 4, 5, 6}, {m, 4, 3, 2}, {{"padding", "1"}}});
    all.push_back({{1, 7, 4, 4}, {m, 7, 1, 1}});
  }
  for (const char* stride : {"1", "2", "3", "[3,1]", "[1,2]"}) {
    all.push_back({{2, 5, 11, 13}, {7, 5, 3, 2}, {{"stride", stride}, {"padding", "1"}}});
    all.push_back({{1, 6, 9, 16},
                   {4, 3, 2, 3},
                   {{"stride", stride}, {"dilation", "[3,2]"}, {"padding", "3"}, {"groups", "2"}}});
    all.push_back({{1, 4, 9, 16},
                   {4, 1, 2, 3},
                   {{"stride", stride}, {"dilation", "[3,2]"}, {"padding", "3"}, {"groups", "4"}}});
    all.push_back({{1, 4, 7, 8}, {33, 4, 1, 1}, {{"stride", stride}}});
  }
  // The padding exceeds half a kernel and a whole kernel. One kernel is larger than the image.
  all.push_back({{1, 3, 4, 5}, {6, 3, 3, 3}, {{"padding", "4"}}});
  all.push_back({{1, 3, 4, 5}, {3, 1, 3, 3}, {{"padding", "4"}, {"groups", "3"}}});
  all.push_back({{1, 3, 3, 2}, {6, 3, 7, 6}, {{"padding", "[3,4]"}}});
  all.push_back({{1, 3, 1, 1}, {5, 3, 5, 5}, {{"padding", "4"}, {"stride", "2"}}});
  // Images that do not fit into a core's cache, many images that do, and an empty batch.
  all.push_back({{1, 16, 200, 200}, {3, 16, 3, 3}, {{"padding", "1"}}});
  all.push_back({{1, 16, 201, 200}, {3, 16, 3, 3}, {{"padding", "1"}, {"stride", "2"}}});
  all.push_back({{65, 16, 4, 5}, {3, 16, 3, 3}, {{"padding", "1"}}});
  all.push_back({{0, 3, 4, 5}, {3, 3, 3, 3}, {{"padding", "1"}}});
  // More terms than are processed at a time.
  all.push_back({{1, 130, 4, 4}, {17, 130, 3, 3}, {{"padding", "1"}}});
  return all;
}

std::string pair_text(std::int64_t h, std::int64_t w) {
  return '[' + std::to_string(h) + ',' + std::to_string(w) + ']';
}

// The convolution of a shape and its two gradients.
std::vector<Problem> plain_problems(const PlainConvolution& s, DType dtype) {
  const auto make = [&](const char* op, std::vector<Dims> inputs, const AttrTexts& attrs) {
    return problem_with(find_op(op), inputs, attrs, dtype, Format::NCHW);
  };
  std::vector<Problem> all = {make("conv2d", {s.x, s.weight, {s.weight[0]}}, s.attrs),
                              make("conv2d", {s.x, s.weight}, s.attrs)};
  const Dims y = all.front().outputs[0].shape;
  AttrTexts input = s.attrs, weight = s.attrs;
  input["input_size"] = pair_text(s.x[2], s.x[3]);
  weight["kernel_size"] = pair_text(s.weight[2], s.weight[3]);
  all.push_back(make("conv2d_grad_input", {y, s.weight}, input));
  all.push_back(make("conv2d_grad_weight", {y, s.x}, weight));
  return all;
}

const Kernel& native_of(const Problem& problem) {
  for (const Kernel* kernel : kernels_of(problem.op->name)) {
    if (kernel->provider == Provider::framework) return *kernel;
  }
  throw std::logic_error("no native variant");
}

}  // namespace

class NativeConv2d : public testing::TestWithParam<DType> {};

TEST_P(NativeConv2d, AgreesWithTheReference) {
  int held = 0;
  for (const PlainConvolution& shape : plain_convolutions()) {
    for (const Problem& problem : plain_problems(shape, GetParam())) {
      held += expect_conforms(native_of(problem), problem, 1) ? 1 : 0;
    }
  }
  EXPECT_GT(held, 200);
}

// The order of a sum does not depend on how the work is divided.
TEST_P(NativeConv2d, GivesTheSameBitsWithEveryNumberOfThreads) {
  for (const PlainConvolution& shape : plain_convolutions()) {
    for (const Problem& problem : plain_problems(shape, GetParam())) {
      const std::vector<Tensor> inputs = filled_inputs(problem);
      std::vector<const Tensor*> from;
      for (const Tensor& input : inputs) from.push_back(&input);
      std::optional<Tensor> first;
      for (const int threads : {1, 2, 3}) {
        std::vector<Tensor> outputs = poisoned_outputs(problem);
        run_kernel(native_of(problem), problem, from, pointers_to<Tensor>(outputs), threads);
        if (!first) {
          first = std::move(outputs[0]);
        } else {
          EXPECT_EQ(std::memcmp(first->data(), outputs[0].data(), first->desc.bytes()), 0)
              << problem.op->name << ' ' << threads << " threads";
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(DTypes, NativeConv2d, testing::Values(DType::fp32, DType::fp16));

}  // namespace opbench
