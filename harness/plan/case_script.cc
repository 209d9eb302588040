#include "harness/plan/case_script.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "harness/plan/case_graph.h"
#include "harness/plan/graph.h"
#include "opbench_case_script_py.h"
#include "ops/torch_expression.h"
#include "tensor/error.h"
#include "text/filled.h"

namespace opbench {
namespace {

constexpr const char* kForward = R"(def passes(x, device):
    """Names and functions of what is timed."""
    def forward():
        with torch.no_grad():
            return dense(compute(x), x)

    return [("forward", forward)]
)";

constexpr const char* kBackward =
    R"(# Gradients of results, or of their means, from which the backward pass begins.
SEEDS = [
{{SEEDS}}]
ENDS = [{{ENDS}}]  # for each: number of the result, True for its mean


def passes(x, device):
    """Names and functions of what is timed."""
    def forward():
        with torch.no_grad():
            return dense(compute(x), x)

    leaves = [tensor.detach().requires_grad_(tensor.is_floating_point()) for tensor in x]
    seeds = [placed(row, values(row), device) for row in SEEDS]

    def both():
        y = dense(compute(leaves), leaves)
        ends = [y[k].mean() if is_mean else y[k] for k, is_mean in ENDS]
        gradients = torch.autograd.grad(ends, [leaf for leaf in leaves if leaf.requires_grad],
                                        [seed.to(end.dtype) for seed, end in zip(seeds, ends)], allow_unused=True)
        return [one.detach() for one in [*y, *gradients] if one is not None]

    return [("forward", forward), ("forward and backward", both)]
)";

constexpr const char* kGradient =
    R"(SOURCES = [{{SOURCES}}]  # of the inputs: the operator is a gradient of `compute`
OF = [{{OF}}]  # the inputs of `compute` whose gradients are its results


def passes(x, device):
    """Names and functions of what is timed."""
    given = dict(zip(SOURCES, x))
    count = 1 + max([k for source, k in SOURCES if "input" in source] + OF)
    inputs = [given.get(("input", k), given.get(("zeros_like_input", k))).detach() for k in range(count)]
    leaves = [inputs[k].requires_grad_() for k in OF if inputs[k].is_floating_point()]
    y = listed(compute(inputs))
    ends = [(y[k], seed.reshape(y[k].shape).to(y[k].dtype)) for (source, k), seed in given.items()
            if source == "output_gradient" and y[k].requires_grad]

    def gradient():
        return list(torch.autograd.grad([end for end, _ in ends], leaves, [seed for _, seed in ends], retain_graph=True))

    return [("gradient", gradient)]
)";

std::string python_shape(const TensorDesc& desc) {
  return fmt::format("[{}]", fmt::join(desc.shape, ", "));
}

std::string script_row(const GraphTensor& tensor, std::uint64_t seed) {
  const std::string data = to_string(tensor.data);
  const std::string kind = data.substr(0, data.find('('));
  if (tensor.data.kind == DistributionKind::special ||
      tensor.data.kind == DistributionKind::boxes) {
    throw Error(
        fmt::format("'{}' has the data {}, which a script does not have; state others, "
                    "such as data.{}=normal",
                    tensor.name, kind, tensor.name));
  }
  return fmt::format("    (\"{}\", \"{}\", {}, \"{}\", (\"{}\", {}, {}), {}),\n", tensor.name,
                     torch_name(tensor.desc.dtype), python_shape(tensor.desc),
                     name(tensor.desc.format), kind, tensor.data.a, tensor.data.b, seed);
}

// Shape [0] at the end stands for an optional input that is not given; torch takes it as absent.
std::size_t given_inputs(const Problem& problem) {
  std::size_t count = problem.inputs.size();
  const std::size_t required = problem.op->inputs.size() - problem.op->optional_inputs;
  while (count > required && problem.inputs[count - 1].shape == Dims{0}) --count;
  return count;
}

/// The tensors of a case's graph as rows of the script.
class ScriptRows {
 public:
  explicit ScriptRows(const Case& c) : graph_(build_graph(c)), seed_(seed_of(c)) {}

  const Problem& problem() const { return graph_.nodes.front().problem; }

  std::string inputs() const {
    std::string text;
    for (std::size_t i = 0; i < given_inputs(problem()); ++i) text += row(i);
    return text;
  }

  // A seed is named "grad_" after a result, or after the mean of one.
  TextFields seeds() const {
    std::string rows;
    std::vector<std::string> ends;
    for (std::size_t i = 0; i < graph_.tensors.size(); ++i) {
      if (graph_.tensors[i].role != GraphTensor::gradient_seed) continue;
      rows += row(i);
      ends.push_back(end_of(graph_.tensors[i].name));
    }
    return {{"SEEDS", rows}, {"ENDS", fmt::format("{}", fmt::join(ends, ", "))}};
  }

 private:
  std::string row(std::size_t tensor) const {
    return script_row(graph_.tensors[tensor], seed_ + 0x9E3779B97F4A7C15 * tensor);
  }

  std::string end_of(const std::string& seed) const {
    const std::vector<std::size_t>& results = graph_.nodes.front().outputs;
    for (const Node& node : graph_.nodes) {
      for (const std::size_t output : node.outputs) {
        if ("grad_" + graph_.tensors[output].name != seed) continue;
        const bool is_mean = &node != &graph_.nodes.front();
        const auto place =
            std::find(results.begin(), results.end(), is_mean ? node.inputs.front() : output);
        return fmt::format("({}, {})", place - results.begin(), is_mean ? "True" : "False");
      }
    }
    throw std::logic_error("a seed without its result");
  }

  const Graph graph_;
  const std::uint64_t seed_;
};

/// The operator that the script computes by its expression: that of the case, or the one that it is
/// the gradient of.
struct ScriptCall {
  const Op* op;
  TensorDesc first;  ///< result of the expression
  std::string passes;
};

ScriptCall gradient_of(const Problem& problem) {
  const TorchGradient gradient = torch_gradient(problem);
  if (gradient.forward == nullptr) {
    throw Error(
        fmt::format("torch has no simple call for {}, so no script is written", problem.op->name));
  }
  std::vector<std::string> sources;
  std::size_t first = 0;
  for (std::size_t i = 0; i < gradient.call.args.size(); ++i) {
    const GradientArg& arg = gradient.call.args[i];
    sources.push_back(fmt::format("(\"{}\", {})", name_of(arg.source), arg.index));
    if (arg.source == GradientArg::output_gradient && arg.index == 0) first = i;
  }
  return {gradient.forward, problem.inputs[first],
          filled(kGradient, {{"SOURCES", fmt::format("{}", fmt::join(sources, ", "))},
                             {"OF", fmt::format("{}", fmt::join(gradient.call.of_inputs, ", "))}})};
}

ScriptCall script_call(const Case& c, const ScriptRows& rows) {
  const Problem& problem = rows.problem();
  if (torch_expression(*problem.op).empty()) return gradient_of(problem);
  return {problem.op, problem.outputs.front(),
          c.backward ? filled(kBackward, rows.seeds()) : kForward};
}

}  // namespace

std::string case_script(const Case& c, const std::string& command) {
  const ScriptRows rows(c);
  const ScriptCall call = script_call(c, rows);
  return filled(kCaseScriptPy,
                {{"CASE", case_id(c)},
                 {"COMMAND", without_escapes(command)},
                 {"OP", std::string(c.op->name)},
                 {"INPUTS", rows.inputs()},
                 {"ATTRS", python_attrs(rows.problem().attrs.restricted_to(call.op->attrs))},
                 {"SHAPE", python_shape(call.first)},
                 {"DTYPE", torch_name(call.first.dtype)},
                 {"EXPRESSION", torch_expression(*call.op)},
                 {"PASSES", call.passes}});
}

}  // namespace opbench
