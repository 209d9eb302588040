// Every kernel against its operator's reference, over dtypes, formats, sizes around every vector
// width, threads and instruction sets. Nobody edits this file to add a kernel.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <ostream>

#include "compare/stats.h"
#include "tensor/error.h"
#include "tensor/fill.h"
#include "tests/evaluate.h"
#include "tests/support.h"

namespace opbench {
namespace {

/// Storage whose padding lanes and results hold NaN until they are written.
Tensor poisoned(const TensorDesc& desc) {
  Tensor tensor(desc);
  std::memset(tensor.data(), 0xFF, desc.bytes());
  return tensor;
}

// Data of the logical elements only: padding lanes stay NaN, so a kernel that lets one reach a
// result is seen.
Tensor filled(const TensorDesc& desc, std::uint64_t seed) {
  Tensor tensor = poisoned(desc);
  std::vector<std::byte> values(static_cast<std::size_t>(desc.elements()) * size_of(desc.dtype));
  generate({DistributionKind::normal, 0, 3}, seed, desc.dtype, desc.elements(),
           {0, desc.elements()}, values.data());
  write_elements(desc, tensor.data(), {0, desc.elements()}, values.data());
  return tensor;
}

// Inputs of a problem, each with data of its own.
std::vector<Tensor> filled_inputs(const Problem& problem) {
  std::vector<Tensor> inputs;
  for (std::size_t i = 0; i < problem.inputs.size(); ++i) {
    inputs.push_back(filled(problem.inputs[i], i + 1));
  }
  return inputs;
}

std::vector<const Tensor*> pointers_to(const std::vector<Tensor>& tensors) {
  std::vector<const Tensor*> pointers;
  for (const Tensor& tensor : tensors) pointers.push_back(&tensor);
  return pointers;
}

std::vector<Dims> shapes_for(Format format) {
  if (format == Format::ND) return {{0}, {1}, {15}, {17}, {63}, {64}, {65}, {257}, {3, 4097}};
  if (format == Format::NCDHW) return {{1, 2, 3, 5, 7}};
  return {{1, 1, 1, 1},   {2, 3, 5, 7}, {1, 15, 3, 3}, {2, 16, 7, 7},
          {1, 17, 9, 11}, {2, 0, 3, 3}, {3, 58, 1, 1}};
}

/// The problem of an operator on equal inputs, or with a scalar first where it wants one; nothing
/// if it takes neither.
std::vector<Problem> problems_of(const Op& op, const Dims& shape, DType dtype, Format format) {
  std::vector<Problem> problems;
  for (const bool scalar_first : {false, true}) {
    std::vector<TensorDesc> inputs(op.inputs.size(), describe(dtype, shape, format));
    if (scalar_first) inputs[0] = describe(dtype, {});
    if (scalar_first && op.inputs.size() == 1) continue;
    try {
      problems.push_back(make_problem(op, inputs, Attrs(op.attrs)));
    } catch (const Error&) {
      // The operator wants the other kind.
    }
  }
  return problems;
}

Stats stats_of(const Problem& problem, const std::vector<Tensor>& inputs, const Tensor& output) {
  std::vector<InputReader> readers;
  for (const Tensor& input : inputs) readers.emplace_back(input.desc, input.data());
  const auto count = static_cast<std::size_t>(output.desc.elements());
  std::vector<double> expected(count), actual(count);
  problem.op->reference(readers, problem.attrs)(0, {0, output.desc.elements()}, expected);
  read_doubles(output.desc, output.data(), {0, output.desc.elements()}, actual);
  return measure(output.desc.dtype, mixed_tolerance(output.desc.dtype), 0, actual, expected);
}

void expect_conforms(const Kernel& kernel, const Problem& problem, int threads) {
  if (!refusal(kernel, problem).empty()) return;
  const std::vector<Tensor> inputs = filled_inputs(problem);
  const std::vector<const Tensor*> pointers = pointers_to(inputs);
  Tensor output = poisoned(problem.outputs[0]);
  run_kernel(kernel, problem, pointers, {&output}, threads);
  const Stats stats = stats_of(problem, inputs, output);
  const Judgement judgement = judge(stats, mixed_tolerance(output.desc.dtype));
  EXPECT_NE(judgement.verdict, Verdict::failed)
      << kernel.key() << " on " << to_string(problem.inputs.back()) << ": " << judgement.reason;
}

}  // namespace

// For GoogleTest: a pointer would be another name in every run.
void PrintTo(const Kernel* kernel, std::ostream* out) { *out << kernel->key(); }

class Conformance : public testing::TestWithParam<const Kernel*> {};

TEST_P(Conformance, AgreesWithTheReference) {
  const Kernel& kernel = *GetParam();
  const Op& op = find_op(kernel.op);
  on_every_isa([&] {
    for (const DType dtype : op.dtypes) {
      for (const Format format : op.formats) {
        for (const Dims& shape : shapes_for(format)) {
          for (const Problem& problem : problems_of(op, shape, dtype, format)) {
            expect_conforms(kernel, problem, 1);
            expect_conforms(kernel, problem, 2);
          }
        }
      }
    }
  });
}

// The same bits for every number of threads.
TEST_P(Conformance, DoesNotDependOnThreads) {
  const Kernel& kernel = *GetParam();
  const Op& op = find_op(kernel.op);
  const std::vector<Problem> problems = problems_of(op, {3, 40009}, DType::fp32, Format::ND);
  ASSERT_FALSE(problems.empty());
  for (const Problem& problem : problems) {
    if (!refusal(kernel, problem).empty()) continue;
    const std::vector<Tensor> inputs = filled_inputs(problem);
    const std::vector<const Tensor*> pointers = pointers_to(inputs);
    Tensor once = poisoned(problem.outputs[0]);
    run_kernel(kernel, problem, pointers, {&once}, 1);
    for (const int threads : {2, 7}) {
      Tensor again = poisoned(problem.outputs[0]);
      run_kernel(kernel, problem, pointers, {&again}, threads);
      EXPECT_EQ(std::memcmp(once.data(), again.data(), once.desc.bytes()), 0)
          << threads << " threads";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, Conformance, testing::ValuesIn(RegisteredKernel::all()),
                         [](const auto& kernel) {
                           std::string name = kernel.param->key();
                           std::replace_if(
                               name.begin(), name.end(),
                               [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
                           return name;
                         });

// Beyond the cache outputs are streamed: the same values, every tail.
TEST(Streaming, GivesTheSameBitsAsPlainStores) {
  for (const DType dtype : {DType::fp32, DType::fp16, DType::bf16}) {
    const auto desc = describe(dtype, {40'000'037 / static_cast<std::int64_t>(size_of(dtype))});
    const Op& op = find_op("relu");
    const Problem problem = make_problem(op, {desc}, Attrs(op.attrs));
    const Tensor x = filled(desc, 5);
    Tensor plain = poisoned(desc), streamed = poisoned(desc);
    run_kernel(find_kernel("relu", "native"), problem, {&x}, {&plain}, 2);
    run_kernel(find_kernel("relu", "relu"), problem, {&x}, {&streamed}, 2);
    EXPECT_EQ(std::memcmp(plain.data(), streamed.data(), desc.bytes()), 0) << name(dtype);
  }
}

}  // namespace opbench
