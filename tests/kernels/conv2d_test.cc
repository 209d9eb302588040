// Tests the device's convolutions and their gradients. Sizes are around every tile: places of a
// row, channels and outputs of a block, and strides. Windows extend beyond the image. Padding lanes
// hold NaN.
#include <gtest/gtest.h>

#include <cstring>

#include "tests/conforms.h"
#include "tests/evaluate.h"
#include "tests/support.h"

namespace opbench {
namespace {

// x [n, c, h, w] by a kernel [m, c/groups, kh, kw].
struct BlockedConvolution {
  std::int64_t n, c, h, w, m, kh, kw;
  AttrTexts attrs = {};
  std::int64_t groups = 1;
};

std::vector<BlockedConvolution> blocked_convolutions() {
  std::vector<BlockedConvolution> all;
  // Rows have up to two tiles of 14 places and one more place.
  for (std::int64_t w = 1; w <= 29; ++w)
    all.push_back({1, 3, 1, w, 17, 1, 3, {{"padding", "[0,1]"}}});
  // The places of a stride are read together. Some places before and after them are missing.
  for (std::int64_t w = 1; w <= 9; ++w) {
    for (const char* stride : {"2", "3", "4"}) {
      all.push_back({1, 17, 1, w, 5, 1, 3, {{"stride", stride}, {"padding", "[0,2]"}}});
      all.push_back({1, 3, 1, w, 5, 1, 2, {{"stride", stride}, {"padding", "[0,3]"}}});
    }
  }
  for (const std::int64_t c : {1, 3, 4, 5, 15, 16, 17, 33}) {
    for (const std::int64_t m : {1, 3, 4, 5, 15, 16, 17, 33, 49})
      all.push_back({2, c, 3, 4, m, 1, 1});
  }
  for (const char* stride : {"1", "2", "3", "[3,1]", "[1,2]"}) {
    all.push_back({2, 5, 11, 13, 7, 3, 2, {{"stride", stride}, {"padding", "1"}}});
    all.push_back(
        {1, 17, 9, 16, 5, 2, 3, {{"stride", stride}, {"dilation", "[3,2]"}, {"padding", "3"}}});
    all.push_back({1, 4, 7, 8, 33, 1, 1, {{"stride", stride}}});
  }
  // The padding exceeds half a kernel, a kernel exceeds the image, and taps meet no element.
  all.push_back({1, 3, 4, 5, 6, 3, 3, {{"padding", "4"}}});
  all.push_back({1, 3, 3, 2, 6, 7, 6, {{"padding", "[3,4]"}}});
  all.push_back({1, 18, 2, 3, 20, 5, 5, {{"padding", "5"}, {"dilation", "2"}, {"stride", "2"}}});
  all.push_back({2, 16, 9, 9, 32, 9, 9});
  all.push_back({1, 3, 1, 1, 5, 5, 5, {{"padding", "4"}, {"stride", "2"}}});
  // Inputs or gradients of one place: images up to a tile of 14 and one more, elements that meet no
  // tap, groups, several panels.
  for (const std::int64_t n : {1, 2, 13, 14, 15, 29}) all.push_back({n, 5, 4, 5, 7, 4, 5});
  all.push_back({3, 17, 5, 4, 33, 3, 2, {{"stride", "3"}}});
  all.push_back({2, 33, 1, 1, 49, 3, 3, {{"padding", "2"}}});
  all.push_back({3, 49, 1, 1, 33, 1, 1});
  all.push_back({3, 12, 3, 3, 24, 3, 3, {{"groups", "4"}}, 4});
  all.push_back({3, 40, 2, 3, 80, 2, 3, {{"groups", "4"}}, 4});
  // Images that do not fit into a core's cache, and several that do.
  all.push_back({1, 16, 200, 200, 3, 3, 3, {{"padding", "1"}}});
  all.push_back({1, 16, 201, 200, 3, 3, 3, {{"padding", "1"}, {"stride", "2"}}});
  all.push_back({5, 16, 4, 5, 3, 3, 3, {{"padding", "1"}}});
  // Groups that share a block of the weight, that fill a block, and that cross blocks.
  all.push_back({2, 12, 5, 6, 24, 3, 3, {{"groups", "4"}, {"padding", "1"}}, 4});
  all.push_back({1, 64, 4, 17, 96, 1, 1, {{"groups", "4"}}, 4});
  all.push_back({1, 40, 5, 6, 80, 3, 3, {{"groups", "4"}, {"stride", "2"}}, 4});
  for (const std::int64_t c : {1, 15, 16, 17, 33}) {
    AttrTexts attrs = {{"groups", std::to_string(c)}, {"padding", "1"}};
    all.push_back({2, c, 5, 15, c, 3, 3, attrs, c});
    attrs["stride"] = "2";
    all.push_back({2, c, 7, 31, c, 3, 3, attrs, c});
  }
  // Rows of a depthwise convolution that meet equal taps: several rows, one row, no row, and bands
  // of rows.
  for (const char* padding : {"0", "3", "5"}) {
    AttrTexts attrs = {{"groups", "17"}, {"padding", padding}, {"dilation", "2"}};
    all.push_back({2, 17, 9, 10, 17, 5, 5, attrs, 17});
    attrs["stride"] = "[2,3]";
    all.push_back({1, 17, 11, 9, 17, 5, 4, attrs, 17});
  }
  all.push_back({1, 16, 201, 200, 16, 3, 3, {{"groups", "16"}, {"padding", "2"}}, 16});
  return all;
}

// The convolution of a shape and its two gradients.
std::vector<Problem> blocked_problems(const BlockedConvolution& s, DType dtype) {
  const Dims x = {s.n, s.c, s.h, s.w}, w = {s.m, s.c / s.groups, s.kh, s.kw};
  const auto text = [](std::int64_t h, std::int64_t v) {
    return '[' + std::to_string(h) + ',' + std::to_string(v) + ']';
  };
  const auto make = [&](const char* op, std::vector<Dims> inputs, const AttrTexts& attrs) {
    return problem_with(find_op(op), inputs, attrs, dtype, Format::NC1HWC0);
  };
  std::vector<Problem> all = {make("conv2d", {x, w, {s.m}}, s.attrs)};
  const Dims y = all.front().outputs[0].shape;
  AttrTexts input = s.attrs, weight = s.attrs;
  input["input_size"] = text(s.h, s.w);
  weight["kernel_size"] = text(s.kh, s.kw);
  all.push_back(make("conv2d_grad_input", {y, w}, input));
  all.push_back(make("conv2d_grad_weight", {y, x}, weight));
  return all;
}

}  // namespace

class Conv2dShapes : public testing::TestWithParam<DType> {};

TEST_P(Conv2dShapes, AgreeWithTheReference) {
  int held = 0;
  for (const BlockedConvolution& shape : blocked_convolutions()) {
    for (const Problem& problem : blocked_problems(shape, GetParam())) {
      for (const Kernel* kernel : kernels_of(problem.op->name)) {
        if (kernel->provider == Provider::npu) held += expect_conforms(*kernel, problem, 1) ? 1 : 0;
      }
    }
  }
  EXPECT_GT(held, 300);
}

// The order of a sum does not depend on the vector width or on how the work is divided.
TEST_P(Conv2dShapes, GiveTheSameBitsOnEveryIsaAndThread) {
  for (const BlockedConvolution& shape : blocked_convolutions()) {
    for (const Problem& problem : blocked_problems(shape, GetParam())) {
      const std::vector<Tensor> inputs = filled_inputs(problem);
      for (const Kernel* kernel : kernels_of(problem.op->name)) {
        if (kernel->provider != Provider::npu || !refusal(*kernel, problem).empty()) continue;
        std::optional<Tensor> first;
        on_every_isa([&] {
          for (const int threads : {1, 2}) {
            std::vector<Tensor> outputs = poisoned_outputs(problem);
            std::vector<const Tensor*> from;
            for (const Tensor& input : inputs) from.push_back(&input);
            run_kernel(*kernel, problem, from, pointers_to<Tensor>(outputs), threads);
            if (!first)
              first = std::move(outputs[0]);
            else
              EXPECT_EQ(std::memcmp(first->data(), outputs[0].data(), first->desc.bytes()), 0)
                  << kernel->key() << ' ' << threads << " threads";
          }
        });
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(DTypes, Conv2dShapes, testing::Values(DType::fp32, DType::fp16));

}  // namespace opbench
