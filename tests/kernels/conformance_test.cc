// Every kernel against its operator's reference, over dtypes, formats, sizes around every vector
// width, threads and instruction sets. Nobody edits this file to add a kernel.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <ostream>

#include "compare/stats.h"
#include "harness/standards.h"
#include "kernels/elementwise.h"
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
Tensor filled(const TensorDesc& desc, const Distribution& data, std::uint64_t seed) {
  Tensor tensor = poisoned(desc);
  std::vector<std::byte> values(static_cast<std::size_t>(desc.elements()) * size_of(desc.dtype));
  generate(data, seed, desc.dtype, desc.elements(), {0, desc.elements()}, values.data());
  write_elements(desc, tensor.data(), {0, desc.elements()}, values.data());
  return tensor;
}

// Inputs of a problem, each with data of its own.
std::vector<Tensor> filled_inputs(const Problem& problem) {
  std::vector<Tensor> inputs;
  for (std::size_t i = 0; i < problem.inputs.size(); ++i) {
    Distribution data = default_data(problem, i);
    if (data == Distribution{}) data.b = 3;  // far enough to meet every branch
    inputs.push_back(filled(problem.inputs[i], data, i + 1));
  }
  return inputs;
}

std::vector<Tensor> poisoned_outputs(const Problem& problem) {
  std::vector<Tensor> outputs;
  for (const TensorDesc& output : problem.outputs) outputs.push_back(poisoned(output));
  return outputs;
}

template <class T>
std::vector<T*> pointers_to(std::vector<std::remove_const_t<T>>& tensors) {
  std::vector<T*> pointers;
  for (auto& tensor : tensors) pointers.push_back(&tensor);
  return pointers;
}

std::vector<Dims> shapes_for(Format format) {
  if (format == Format::ND)
    return {{0}, {1}, {15}, {17}, {63}, {64}, {65}, {257}, {3, 4097}, {9, 4}};
  if (origin_format_of(format) == Format::NCDHW) return {{1, 2, 3, 5, 7}, {2, 18, 2, 4, 4}};
  return {{1, 1, 1, 1},   {2, 3, 5, 7}, {1, 15, 3, 3}, {2, 16, 7, 7},
          {1, 18, 9, 11}, {2, 0, 3, 3}, {3, 58, 1, 1}};
}

/// The problems of an operator over shapes as --shapes would make them; none where it takes them
/// not.
std::vector<Problem> problems_of(const Op& op, const std::vector<Dims>& shapes, DType dtype,
                                 Format format) {
  std::vector<Problem> problems;
  const Attrs attrs(op.attrs);
  for (const Dims& shape : shapes) {
    try {
      problems.push_back(make_problem(
          op, describe_inputs(op, shapes_like(op, shape, attrs), dtype, format, attrs), attrs));
    } catch (const Error&) {
      // Another rank, another divisor.
    }
  }
  return problems;
}

Judgement judge_output(const Kernel& kernel, const Problem& problem,
                       const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs,
                       std::size_t i) {
  std::vector<InputReader> readers;
  for (const Tensor& input : inputs) readers.emplace_back(input.desc, input.data());
  const Tensor& output = outputs[i];
  const ElementRange all{0, output.desc.elements()};
  const DType dtype = output.desc.dtype;
  const auto count = static_cast<std::size_t>(all.count);
  if (problem.op->exact_reference != nullptr) {
    std::vector<std::byte> expected(count * size_of(dtype)), actual(expected.size());
    problem.op->exact_reference(readers, problem.attrs)(i, all, expected.data());
    read_elements(output.desc, output.data(), all, actual.data());
    const bool any_nan = problem.op->accuracy == AccuracyClass::exact_value;
    return judge(measure_bits(dtype, any_nan, all, actual.data(), expected.data()), {});
  }
  std::vector<double> expected(count), actual(count);
  problem.op->reference(readers, problem.attrs)(i, all, expected);
  read_doubles(output.desc, output.data(), all, actual);
  const Tolerance tolerance = mixed_tolerance(kernel.judged_as.value_or(dtype));
  return judge(measure(dtype, tolerance, 0, actual, expected), tolerance);
}

void expect_conforms(const Kernel& kernel, const Problem& problem, int threads) {
  if (!refusal(kernel, problem).empty()) return;
  std::vector<Tensor> inputs = filled_inputs(problem);
  std::vector<Tensor> outputs = poisoned_outputs(problem);
  run_kernel(kernel, problem, pointers_to<const Tensor>(inputs), pointers_to<Tensor>(outputs),
             threads);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Judgement judgement = judge_output(kernel, problem, inputs, outputs, i);
    EXPECT_NE(judgement.verdict, Verdict::failed)
        << kernel.key() << " on " << to_string(problem.inputs.back()) << ", output " << i << ": "
        << judgement.reason;
  }
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
        for (const Problem& problem : problems_of(op, shapes_for(format), dtype, format)) {
          expect_conforms(kernel, problem, 1);
          expect_conforms(kernel, problem, 2);
        }
      }
    }
  });
}

// The same bits for every number of threads.
TEST_P(Conformance, DoesNotDependOnThreads) {
  const Kernel& kernel = *GetParam();
  const Op& op = find_op(kernel.op);
  const DType dtype = op.dtypes.front();
  std::vector<Problem> problems = problems_of(op, {{3, 40009}, {30011, 4}}, dtype, Format::ND);
  for (Problem& problem : problems_of(op, {{3, 16, 41, 43}}, dtype, Format::NCHW)) {
    problems.push_back(std::move(problem));
  }
  ASSERT_FALSE(problems.empty());
  for (const Problem& problem : problems) {
    if (!refusal(kernel, problem).empty()) continue;
    std::vector<Tensor> inputs = filled_inputs(problem);
    const std::vector<const Tensor*> pointers = pointers_to<const Tensor>(inputs);
    std::vector<Tensor> once = poisoned_outputs(problem);
    run_kernel(kernel, problem, pointers, pointers_to<Tensor>(once), 1);
    for (const int threads : {2, 7}) {
      std::vector<Tensor> again = poisoned_outputs(problem);
      run_kernel(kernel, problem, pointers, pointers_to<Tensor>(again), threads);
      for (std::size_t i = 0; i < once.size(); ++i) {
        EXPECT_EQ(std::memcmp(once[i].data(), again[i].data(), once[i].desc.bytes()), 0)
            << threads << " threads, output " << i;
      }
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
    const auto bytes = static_cast<std::int64_t>(last_level_cache_bytes() / 2 + 4096 + 37);
    const auto desc = describe(dtype, {bytes / static_cast<std::int64_t>(size_of(dtype))});
    const Op& op = find_op("relu");
    const Problem problem = make_problem(op, {desc}, Attrs(op.attrs));
    ASSERT_TRUE(outgrows_cache(problem));
    const Tensor x = filled(desc, {}, 5);
    Tensor plain = poisoned(desc);
    run_kernel(find_kernel("relu", "native"), problem, {&x}, {&plain}, 2);
    on_every_isa([&] {
      Tensor streamed = poisoned(desc);
      run_kernel(find_kernel("relu", "relu"), problem, {&x}, {&streamed}, 2);
      EXPECT_EQ(std::memcmp(plain.data(), streamed.data(), desc.bytes()), 0) << name(dtype);
    });
  }
}

}  // namespace opbench
