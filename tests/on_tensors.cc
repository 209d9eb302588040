#include "tests/on_tensors.h"

namespace opbench {
namespace {

struct Use {
  Problem problem;
  std::vector<Tensor> inputs;
  std::vector<InputReader> readers;
};

Use use_of(std::string_view op_name, const std::vector<Given>& given, const AttrTexts& attrs) {
  Use use;
  std::vector<TensorDesc> descs;
  for (const Given& input : given) {
    descs.push_back(describe(input.dtype, input.shape));
    use.inputs.emplace_back(descs.back());
    from_doubles(input.dtype, input.values.data(), descs.back().elements(),
                 use.inputs.back().data());
  }
  const Op& op = find_op(op_name);
  use.problem = make_problem(op, descs, attrs_of(op, attrs));
  for (const Tensor& input : use.inputs) use.readers.emplace_back(input.desc, input.data());
  if (op.check_values != nullptr) op.check_values(use.problem, use.readers);
  return use;
}

}  // namespace

Values reference_of_tensors(std::string_view op, const std::vector<Given>& inputs,
                            const AttrTexts& attrs) {
  const Use use = use_of(op, inputs, attrs);
  const Reference reference = reference_of(*use.problem.op, use.readers, use.problem.attrs);
  Values values;
  for (std::size_t i = 0; i < use.problem.outputs.size(); ++i) {
    const std::int64_t count = use.problem.outputs[i].elements();
    values.emplace_back(static_cast<std::size_t>(count));
    reference(i, {0, count}, values.back());
  }
  return values;
}

Values kernel_on_tensors(std::string_view op, std::string_view variant,
                         const std::vector<Given>& inputs, const AttrTexts& attrs, int threads) {
  const Use use = use_of(op, inputs, attrs);
  std::vector<const Tensor*> in;
  for (const Tensor& input : use.inputs) in.push_back(&input);
  std::vector<Tensor> outputs(use.problem.outputs.begin(), use.problem.outputs.end());
  std::vector<Tensor*> out;
  for (Tensor& output : outputs) out.push_back(&output);
  run_kernel(find_kernel(op, variant), use.problem, in, out, threads);
  Values values;
  for (const Tensor& output : outputs) {
    values.emplace_back(static_cast<std::size_t>(output.desc.elements()));
    read_doubles(output.desc, output.data(), {0, output.desc.elements()}, values.back());
  }
  return values;
}

}  // namespace opbench
