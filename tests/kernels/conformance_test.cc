// Checks every kernel against its operator's reference, over dtypes, formats, sizes around every
// vector width, threads and instruction sets. A new kernel needs no entry here.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <ostream>

#include "kernels/simd/elementwise.h"
#include "kernels/simd/streaming.h"
#include "tensor/error.h"
#include "tensor/processor.h"
#include "tests/conforms.h"
#include "tests/evaluate.h"
#include "tests/support.h"

namespace opbench {
namespace {

std::vector<Dims> shapes_for(Format format) {
  if (format == Format::ND)
    return {{0}, {1}, {15}, {17}, {63}, {64}, {65}, {257}, {3, 4097}, {9, 4}};
  if (origin_format_of(format) == Format::NCDHW) return {{1, 2, 3, 5, 7}, {2, 18, 2, 4, 4}};
  std::vector<Dims> shapes = {{1, 1, 1, 1},   {2, 3, 5, 7}, {1, 15, 3, 3}, {2, 16, 7, 7},
                              {1, 18, 9, 11}, {2, 0, 3, 3}, {3, 58, 1, 1}};
  // Vectors of channels, and a weight with more rows than a fractal.
  if (format == Format::NC1HWC0) shapes.insert(shapes.end(), {{1}, {16}, {58}});
  if (format == Format::FRACTAL_NZ) shapes.insert(shapes.end(), {{33, 17}, {16, 48}, {1, 5}});
  if (format == Format::FRACTAL_Z) shapes.insert(shapes.end(), {{58, 24, 1, 1}, {33, 17, 3, 2}});
  return shapes;
}

/// The problems of an operator over shapes as --shapes would make them. Empty if the operator does
/// not take them.
std::vector<Problem> problems_of(const Op& op, const std::vector<Dims>& shapes, DType dtype,
                                 Format format, const Attrs& attrs) {
  std::vector<Problem> problems;
  for (const Dims& shape : shapes) {
    try {
      problems.push_back(make_problem(
          op, describe_inputs(op, shapes_like(op, shape, attrs), dtype, format, attrs), attrs));
    } catch (const Error&) {
      // The operator takes another rank or another divisor. The next shape is tried.
    }
  }
  return problems;
}

/// Runs the kernel over all dtypes, formats and shapes with these attributes, and returns the
/// number of runs.
int runs_under(const Kernel& kernel, const Op& op, const Attrs& attrs) {
  int runs = 0;
  for (const DType dtype : op.dtypes) {
    for (const Format format : op.formats) {
      for (const Problem& problem : problems_of(op, shapes_for(format), dtype, format, attrs)) {
        for (const int threads : {1, 2}) runs += expect_conforms(kernel, problem, threads) ? 1 : 0;
      }
    }
  }
  return runs;
}

/// The attributes to try if a kernel takes no problem with the default attributes: every switch
/// inverted, and as many groups as some shape has channels.
std::vector<Attrs> other_attrs(const Op& op) {
  std::vector<Attrs> others;
  for (const AttrSpec& spec : op.attrs) {
    Attrs attrs(op.attrs);
    if (std::holds_alternative<bool>(spec.default_value)) {
      attrs.put(spec.name, !std::get<bool>(spec.default_value));
    } else if (spec.name == "groups") {
      attrs.put(spec.name, std::int64_t{16});
    } else {
      continue;
    }
    others.push_back(std::move(attrs));
  }
  return others;
}

// True for a variant that is exact only with instructions that this processor lacks.
bool lacks_instructions(const Kernel& kernel, const Op& op) {
  const std::vector<Problem> problems =
      problems_of(op, {{16, 16}}, op.dtypes.front(), Format::ND, Attrs(op.attrs));
  return !problems.empty() &&
         refusal(kernel, problems[0]).find("with AVX512-VNNI only") != std::string::npos;
}

}  // namespace

// GoogleTest would print a pointer, which differs from run to run.
void PrintTo(const Kernel* kernel, std::ostream* out) { *out << kernel->key(); }

class Conformance : public testing::TestWithParam<const Kernel*> {};

TEST_P(Conformance, AgreesWithTheReference) {
  const Kernel& kernel = *GetParam();
  const Op& op = find_op(kernel.op);
  on_every_isa([&] {
    int runs = runs_under(kernel, op, Attrs(op.attrs));
    if (runs == 0) {
      for (const Attrs& attrs : other_attrs(op)) runs += runs_under(kernel, op, attrs);
    }
    EXPECT_TRUE(runs > 0 || lacks_instructions(kernel, op)) << "it refuses every example";
  });
}

// The bits are equal for every number of threads, except for libraries that do not guarantee it.
TEST_P(Conformance, DoesNotDependOnThreads) {
  const Kernel& kernel = *GetParam();
  if (kernel.sums_by_thread) {
    ASSERT_EQ(kernel.provider, Provider::vendor) << "only a library's order is not ours";
    return;
  }
  const Op& op = find_op(kernel.op);
  const DType dtype = op.dtypes.front();
  const Attrs attrs(op.attrs);
  std::vector<Problem> problems =
      problems_of(op, {{3, 40009}, {30011, 4}}, dtype, Format::ND, attrs);
  for (Problem& problem : problems_of(op, {{3, 16, 41, 43}}, dtype, Format::NCHW, attrs)) {
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

// Outputs larger than the cache are streamed. The values are equal for every tail.
TEST(Streaming, GivesTheSameBitsAsPlainStores) {
  const ScopedStreamsFrom everything_that_large(0);
  for (const DType dtype : {DType::fp32, DType::fp16, DType::bf16}) {
    const auto bytes = static_cast<std::int64_t>(2 * own_cache_bytes() + 4096 + 37);
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
