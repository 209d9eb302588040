// softmax and log_softmax along an axis, and their gradients from the saved result.
#include <cmath>

#include "ops/elementwise.h"
#include "ops/elementwise_op.h"
#include "ops/movement.h"
#include "ops/reduction.h"
#include "ops/terms.h"

namespace opbench {
namespace {

/// A line along the axis: elements `step` apart.
struct Line {
  double* first;
  std::int64_t extent, step;

  double& operator[](std::int64_t k) const { return first[k * step]; }
};

double greatest_of(const Line& line) {
  double greatest = -HUGE_VAL;
  for (std::int64_t k = 0; k < line.extent; ++k) greatest = std::fmax(greatest, line[k]);
  return greatest;
}

// y = exp(x - max)/sum(exp(x - max))
void softmax(const Line& line) {
  const double greatest = greatest_of(line);
  double sum = 0;
  for (std::int64_t k = 0; k < line.extent; ++k) sum += line[k] = std::exp(line[k] - greatest);
  for (std::int64_t k = 0; k < line.extent; ++k) line[k] /= sum;
}

// y = x - max - log(sum(exp(x - max)))
void log_softmax(const Line& line) {
  const double greatest = greatest_of(line);
  double sum = 0;
  for (std::int64_t k = 0; k < line.extent; ++k) sum += std::exp(line[k] - greatest);
  for (std::int64_t k = 0; k < line.extent; ++k) line[k] = line[k] - greatest - std::log(sum);
}

// dx = (dy - sum(dy*y))*y
void softmax_grad(const Line& dy, const Line& y) {
  double sum = 0;
  for (std::int64_t k = 0; k < dy.extent; ++k) sum += dy[k] * y[k];
  for (std::int64_t k = 0; k < dy.extent; ++k) dy[k] = (dy[k] - sum) * y[k];
}

// The rounding of each exponent is relative to the exponent; the error of its exponential is that
// times the share. The sum has the errors of all exponentials.
void softmax_terms(const Line& line) {
  const double greatest = greatest_of(line);
  double sum = 0, exponents = 0;
  for (std::int64_t k = 0; k < line.extent; ++k) {
    const double exponential = std::exp(line[k] - greatest);
    sum += exponential;
    if (exponential > 0) exponents += exponential * (greatest - line[k]);
  }
  for (std::int64_t k = 0; k < line.extent; ++k) {
    const double exponent = line[k] - greatest;
    line[k] = std::exp(exponent) / sum * (1 + std::fabs(exponent) + exponents / sum);
  }
}

// The logarithm of a sum of at least 1, and the subtracted maximum.
void log_softmax_terms(const Line& line) {
  const double greatest = greatest_of(line);
  double sum = 0;
  for (std::int64_t k = 0; k < line.extent; ++k) sum += std::exp(line[k] - greatest);
  for (std::int64_t k = 0; k < line.extent; ++k) {
    line[k] = std::fabs(line[k] - greatest) + std::log(sum) + 1;
  }
}

// dx = dy - exp(y)*sum(dy)
void log_softmax_grad(const Line& dy, const Line& y) {
  double sum = 0;
  for (std::int64_t k = 0; k < dy.extent; ++k) sum += dy[k];
  for (std::int64_t k = 0; k < dy.extent; ++k) dy[k] -= std::exp(y[k]) * sum;
}

AxisView view_of(std::string_view op, const Dims& shape, const Attrs& attrs) {
  return {shape, axis_of(op, shape, attrs.integer("dim"))};
}

template <OpName kName>
std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  if (inputs.size() > 1) infer_elementwise(kName.view(), inputs);
  axis_of(kName.view(), inputs[0].shape, attrs.integer("dim"));
  return {inputs[0]};
}

template <OpName kName, void (*kOfLine)(const Line& line)>
Reference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  const AxisView view = view_of(kName.view(), inputs[0].desc().shape, attrs);
  std::vector<double> y = inputs[0].read_all();
  for_each_axis_line(view, [&](std::int64_t first) {
    kOfLine({y.data() + first, view.extent, view.inner});
  });
  return elements_of({std::move(y)});
}

template <OpName kName, void (*kOfLine)(const Line& dy, const Line& y)>
Reference reference_grad(std::span<const InputReader> inputs, const Attrs& attrs) {
  const AxisView view = view_of(kName.view(), inputs[0].desc().shape, attrs);
  std::vector<double> dx = inputs[0].read_all(), y = inputs[1].read_all();
  for_each_axis_line(view, [&](std::int64_t first) {
    kOfLine({dx.data() + first, view.extent, view.inner},
            {y.data() + first, view.extent, view.inner});
  });
  return elements_of({std::move(dx)});
}

// exp overflows at these points unless the maximum is subtracted first, and underflows.
std::vector<double> corner_points(const Attrs&, DType dtype) {
  const double overflow = dtype == DType::fp16 ? 11.5 : 89;
  return {overflow, -overflow, 1.2 * overflow, -1.2 * overflow};
}

std::vector<AttrSpec> attributes() {
  return {{"dim", std::int64_t{-1}, "the axis along which the shares add up to 1"}};
}

template <OpName kName, OpName kGradient, void (*kOfLine)(const Line& line)>
Op forward(const ElementwiseRow& row) {
  Op op;
  op.name = op.ir_name = kName.view();
  op.summary = row.summary;
  op.source = row.source;
  op.known_as = row.known_as;
  op.inputs = {{"self"}};
  op.outputs = {{"result"}};
  op.attrs = attributes();
  op.dtypes = kArithmeticDTypes;
  op.formats = kPlainFormats;
  op.infer = infer<kName>;
  op.reference = reference<kName, kOfLine>;
  op.terms = row.terms;
  // compare, subtract, exp, add, divide or subtract
  op.traffic = [](const Problem& problem) { return elementwise_traffic(problem, 5); };
  op.gradient = grad_of_output<kGradient>;
  op.corner_points = corner_points;
  op.mixing = Mixing::other;
  op.holds_fp32 = row.holds_fp32;
  op.takes_functions = row.takes_functions;
  op.context.needs_fp32 = true;
  return op;
}

template <OpName kName, void (*kOfLine)(const Line& dy, const Line& y)>
Op backward(const ElementwiseRow& row) {
  Op op;
  op.name = kName.view();
  op.ir_name = row.ir_name;
  op.summary = row.summary;
  op.source = row.source;
  op.known_as = row.known_as;
  op.inputs = {{"grad_output", "grads/grads_0"}, {"result", "result", {}, row.data}};
  op.outputs = {{"grad_input", "grad_inputs/grad_inputs_0"}};
  op.attrs = attributes();
  op.dtypes = kArithmeticDTypes;
  op.formats = kPlainFormats;
  op.infer = infer<kName>;
  op.reference = reference_grad<kName, kOfLine>;
  op.terms = row.terms;
  op.traffic = [](const Problem& problem) { return elementwise_traffic(problem, 4); };
  op.mixing = Mixing::other;
  op.holds_fp32 = row.holds_fp32;
  op.takes_functions = row.takes_functions;
  return op;
}

// Results: shares of 1, or their logarithms.
Distribution shares(const Problem&) { return {DistributionKind::uniform, 0, 1}; }
Distribution logarithms(const Problem&) { return {DistributionKind::uniform, -8, 0}; }

template <OpName kName, void (*kTerms)(const Line& line)>
Terms terms_of_result(std::span<const InputReader> inputs, const Attrs& attrs) {
  return {.magnitude = reference<kName, kTerms>(inputs, attrs)};
}

// If one element has nearly the whole sum, its gradient is a difference of nearly equal numbers.
void softmax_grad_terms(const Line& dy, const Line& y) {
  double sum = 0;
  for (std::int64_t k = 0; k < dy.extent; ++k) sum += std::fabs(dy[k] * y[k]);
  for (std::int64_t k = 0; k < dy.extent; ++k) dy[k] = (std::fabs(dy[k]) + sum) * std::fabs(y[k]);
}

void softmax_grad_greatest(const Line& dy, const Line& y) {
  double sum = 0;
  for (std::int64_t k = 0; k < dy.extent; ++k) sum += finite_magnitude(dy[k] * y[k]);
  for (std::int64_t k = 0; k < dy.extent; ++k) {
    dy[k] = greatest_product({finite_magnitude(dy[k]) + sum, finite_magnitude(y[k])});
  }
}

void log_softmax_grad_terms(const Line& dy, const Line& y) {
  double sum = 0;
  for (std::int64_t k = 0; k < dy.extent; ++k) sum += std::fabs(dy[k]);
  for (std::int64_t k = 0; k < dy.extent; ++k) {
    const double share = std::exp(y[k]);
    dy[k] = std::fabs(dy[k]) + (share > 0 ? share * (1 + std::fabs(y[k])) * sum : 0);
  }
}

void log_softmax_grad_greatest(const Line& dy, const Line& y) {
  double sum = 0;
  for (std::int64_t k = 0; k < dy.extent; ++k) sum += finite_magnitude(dy[k]);
  for (std::int64_t k = 0; k < dy.extent; ++k) {
    dy[k] = greatest_product({finite_magnitude(dy[k]) + sum, finite_magnitude(std::exp(y[k]))});
  }
}

// The bound also covers sums that are rounded to the dtype, as in PyTorch.
template <OpName kName, void (*kTerms)(const Line& dy, const Line& y),
          void (*kGreatest)(const Line& dy, const Line& y)>
Terms terms_of_gradient(std::span<const InputReader> inputs, const Attrs& attrs) {
  return {.magnitude = reference_grad<kName, kTerms>(inputs, attrs),
          .greatest = reference_grad<kName, kGreatest>(inputs, attrs)};
}

const RegisteredOp kOperators[] = {
    RegisteredOp(forward<"softmax", "softmax_grad", softmax>(
        {.summary = "y = exp(x - max)/sum(exp(x - max)) along an axis",
         .source = "torch.nn.functional.softmax; CANN SoftmaxV2",
         .known_as = {.calls = {{"softmax, softmax_int, _softmax, SoftmaxV2, Softmax",
                                 "self|x",
                                 "result|y",
                                 {.attrs = "dim: dim|axis|axes"}},
                                // Its scores are scaled and masked first.
                                {"ScaledMaskedSoftmax", "x", "y", {.is_profiled_only = true}}},
                      .profiled = {{"aten::_softmax, aten::softmax", "self, =dim"},
                                   {"ScaledMaskedSoftmax", "x", "y"}},
                      .torch = "torch.softmax({0}, {dim})"},
         .terms = terms_of_result<"softmax", softmax_terms>,
         .holds_fp32 = true,
         .takes_functions = true})),
    RegisteredOp(forward<"log_softmax", "log_softmax_grad", log_softmax>(
        {.summary = "y = x - max - log(sum(exp(x - max))) along an axis",
         .source = "torch.nn.functional.log_softmax; CANN LogSoftmaxV2",
         .known_as =
             {.calls = {{"log_softmax, log_softmax_int, _log_softmax, LogSoftmaxV2, LogSoftmax",
                         "self|logits|input",
                         "result|logsoftmax|output",
                         {.attrs = "dim: dim|axis|axes"}}},
              .profiled = {{"aten::_log_softmax, aten::log_softmax", "self, =dim"}},
              .torch = "torch.log_softmax({0}, {dim})"},
         .terms = terms_of_result<"log_softmax", log_softmax_terms>,
         .takes_functions = true})),
    RegisteredOp(backward<"softmax_grad", softmax_grad>(
        {.ir_name = "SoftmaxBackward",
         .summary = "dx = (dy - sum(dy*y))*y along an axis, y the result of softmax",
         .source = "torch.nn.functional.softmax backward; CANN SoftmaxGrad",
         .known_as = {.calls = {{"SoftmaxBackward, SoftmaxGrad",
                                 "grads/grads_0|grad_softmax, result|softmax",
                                 "grad_inputs/grad_inputs_0|grad_x",
                                 {.attrs = "dim: dim|axis|axes"}},
                                {"_softmax_backward_data",
                                 "grad_output, output",
                                 "result",
                                 {.attrs = "dim", .is_profiled_only = true}}},
                      .profiled = {{"SoftmaxGrad", "softmax, grad_softmax", "grad_x"},
                                   {"aten::_softmax_backward_data", "grad_output, output, =dim"}},
                      .torch = "{1} * ({0} - ({0} * {1}).sum({dim}, keepdim=True))"},
         .data = shares,
         .terms = terms_of_gradient<"softmax_grad", softmax_grad_terms, softmax_grad_greatest>})),
    RegisteredOp(backward<"log_softmax_grad", log_softmax_grad>(
        {.ir_name = "LogSoftmaxBackward",
         .summary = "dx = dy - exp(y)*sum(dy) along an axis, y the result of log_softmax",
         .source = "torch.nn.functional.log_softmax backward; CANN LogSoftmaxGrad",
         .known_as = {.calls = {{"LogSoftmaxBackward, _log_softmax_backward_data, LogSoftmaxGrad",
                                 "grads/grads_0|grad_output|grad, result|output|x",
                                 "grad_inputs/grad_inputs_0|result|y",
                                 {.attrs = "dim: dim|axis|axes"}}},
                      .profiled = {{"aten::_log_softmax_backward_data",
                                    "grad_output, output, =dim"}}},
         .data = logarithms,
         .terms = terms_of_gradient<"log_softmax_grad", log_softmax_grad_terms,
                                    log_softmax_grad_greatest>,
         .takes_functions = true})),
};

}  // namespace
}  // namespace opbench
