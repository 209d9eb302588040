#include "tests/evaluate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "tensor/error.h"
#include "tensor/fill.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

struct Bound {
  Problem problem;
  std::vector<Tensor> inputs;
};

Bound bind(std::string_view op_name, DType dtype, const std::vector<std::vector<double>>& values,
           const AttrTexts& attrs, bool scalar_first) {
  const Op& op = find_op(op_name);
  Bound bound;
  std::vector<TensorDesc> descs;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto count = static_cast<std::int64_t>(values[i].size());
    const Dims shape = scalar_first && i == 0 ? Dims{} : Dims{count};
    descs.push_back(describe(dtype, shape));
    bound.inputs.emplace_back(descs.back());
    from_doubles(dtype, values[i].data(), count, bound.inputs.back().data());
  }
  bound.problem = make_problem(op, descs, attrs_of(op, attrs));
  return bound;
}

std::vector<double> to_vector(const Tensor& tensor) {
  std::vector<double> values(static_cast<std::size_t>(tensor.desc.elements()));
  read_doubles(tensor.desc, tensor.data(), {0, tensor.desc.elements()}, values);
  return values;
}

}  // namespace

Attrs attrs_of(const Op& op, const AttrTexts& texts) {
  Attrs attrs(op.attrs);
  for (const auto& [name, text] : texts) attrs.set(op.attrs, name, text);
  return attrs;
}

Problem problem_with(const Op& op, const std::vector<Dims>& shapes, const AttrTexts& texts,
                     DType dtype, Format format) {
  const Attrs attrs = attrs_of(op, texts);
  return make_problem(op, describe_inputs(op, shapes, dtype, format, attrs), attrs);
}

Problem example_problem(const Op& op, DType dtype, Format format) {
  const Attrs attrs(op.attrs);
  std::string reason;
  for (const Dims& shape : {Dims{4, 16, 6, 6}, Dims{32, 4}, Dims{64}, Dims{2, 16, 2, 6, 6}}) {
    try {
      return make_problem(
          op, describe_inputs(op, shapes_like(op, shape, attrs), dtype, format, attrs), attrs);
    } catch (const Error& error) {
      reason = error.what();
    }
  }
  throw Error(std::string(op.name) + " takes no example: " + reason);
}

Reference reference_of(const Op& op, std::span<const InputReader> inputs, const Attrs& attrs) {
  const std::vector<TensorDesc> descs = descs_of(inputs);
  Problem problem{&op, descs, op.infer(descs, attrs), attrs};
  if (!is_exact(problem)) return op.reference(inputs, attrs);
  return [exact = op.exact_reference(inputs, attrs), outputs = std::move(problem.outputs)](
             std::size_t output, ElementRange range, std::span<double> to) {
    thread_local std::vector<std::byte> bits;
    const DType dtype = outputs[output].dtype;
    bits.resize(static_cast<std::size_t>(range.count) * size_of(dtype));
    exact(output, range, bits.data());
    to_doubles(dtype, bits.data(), range.count, to.data());
  };
}

std::vector<double> reference_values(std::string_view op, DType dtype,
                                     const std::vector<std::vector<double>>& inputs,
                                     const AttrTexts& attrs, bool scalar_first) {
  const Bound bound = bind(op, dtype, inputs, attrs, scalar_first);
  std::vector<InputReader> readers;
  for (const Tensor& input : bound.inputs) readers.emplace_back(input.desc, input.data());
  const Reference reference = reference_of(*bound.problem.op, readers, bound.problem.attrs);
  std::vector<double> values(static_cast<std::size_t>(bound.problem.outputs[0].elements()));
  reference(0, {0, bound.problem.outputs[0].elements()}, values);
  return values;
}

std::vector<double> kernel_values(std::string_view op, std::string_view variant, DType dtype,
                                  const std::vector<std::vector<double>>& inputs,
                                  const AttrTexts& attrs, bool scalar_first) {
  const Bound bound = bind(op, dtype, inputs, attrs, scalar_first);
  std::vector<const Tensor*> pointers;
  for (const Tensor& input : bound.inputs) pointers.push_back(&input);
  Tensor output(bound.problem.outputs[0]);
  run_kernel(find_kernel(op, variant), bound.problem, pointers, {&output});
  return to_vector(output);
}

MovedNumbers moved_numbers(std::string_view op_name, const std::vector<Dims>& shapes,
                           const AttrTexts& attrs, const std::vector<std::int64_t>& index) {
  const Op& op = find_op(op_name);
  const Problem problem = problem_with(op, shapes, attrs);
  std::vector<Tensor> inputs;
  std::vector<InputReader> readers;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    inputs.emplace_back(problem.inputs[i]);
    if (op.input(i).has_own_dtype()) {
      std::copy(index.begin(), index.end(), inputs[i].as<std::int64_t>());
    } else {
      fill(inputs[i], {DistributionKind::arange, 100.0 * double(i), 1}, 1);
    }
    readers.emplace_back(problem.inputs[i], inputs[i].data());
  }
  const ExactReference reference = op.exact_reference(readers, problem.attrs);
  MovedNumbers outputs;
  for (std::size_t i = 0; i < problem.outputs.size(); ++i) {
    const ElementRange all{0, problem.outputs[i].elements()};
    outputs.emplace_back(static_cast<std::size_t>(all.count));
    reference(i, all, outputs[i].data());
  }
  return outputs;
}

const Kernel& find_kernel(std::string_view op, std::string_view variant) {
  for (const Kernel* kernel : kernels_of(op)) {
    if (kernel->name == variant) return *kernel;
  }
  throw std::out_of_range("no kernel " + std::string(op) + "/" + std::string(variant));
}

void run_kernel(const Kernel& kernel, const Problem& problem,
                const std::vector<const Tensor*>& inputs, const std::vector<Tensor*>& outputs,
                int threads) {
  std::vector<const void*> in;
  for (const Tensor* input : inputs) in.push_back(input->data());
  std::vector<void*> out;
  for (const Tensor* output : outputs) out.push_back(output->data());
  with_threads(threads, [&] { kernel.prepare(problem)({in, out}); });
  for (const Tensor* input : inputs) EXPECT_TRUE(input->buffer.guards_intact()) << kernel.key();
  for (const Tensor* output : outputs) EXPECT_TRUE(output->buffer.guards_intact()) << kernel.key();
}

}  // namespace opbench
