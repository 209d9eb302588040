#include "compare/fp16_cube.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "compare/operator_error.h"

namespace opbench {
namespace {

// Of errors from inputs to outputs: the backward pass of a batch norm in a healthy pair reaches 5.
constexpr double kGrowth = 8;

double own_error(const OperatorResult& op, DType dtype) {
  if (dtype == DType::bf16) return 0x1p-5;
  if (dtype == DType::fp16 || is_product(op.op())) return 0x1p-8;
  return 0x1p-10;
}

void judge_output(const OperatorResult& op, double input_error, TensorResult& tensor) {
  const double error = sum_error(op, tensor);
  const double own = own_error(op, judged_dtype(tensor.match));
  const double allowed = std::max(own, kGrowth * input_error);
  if (error <= allowed) return;
  std::string reason =
      fmt::format("off by {:.3g} of its size, at most {:.3g} allowed: its inputs are off by {:.3g}",
                  error, allowed, input_error);
  if (const WorstElement& worst = tensor.stats.worst_abs; worst.index >= 0) {
    reason += fmt::format("; worst at {}: {}, expected {}",
                          index_text(judged_shape(tensor.match), worst.index),
                          value_text(worst.actual), value_text(worst.expected));
  }
  tensor.judgement = {Verdict::failed, std::move(reason)};
}

}  // namespace

void hold_to_inputs(Comparison& comparison) {
  for (OperatorResult& op : comparison.operators) {
    const double input_error = sum_error(op, Side::input).value_or(0);
    for (TensorResult& tensor : op.tensors) {
      const bool is_held = tensor.standard.kind == StandardKind::fp16_cube && tensor.is_measured &&
                           tensor.entry().side != Side::input &&
                           tensor.judgement.verdict != Verdict::failed;
      if (is_held) judge_output(op, input_error, tensor);
    }
  }
}

}  // namespace opbench
