#include "compare/fp16_cube.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "compare/operator_error.h"

namespace opbench {
namespace {

// Of errors from inputs to outputs: the backward pass of a batch norm in a healthy pair reaches 5.
constexpr double kGrowth = 8;

double own_error(const OperatorResult& op, DType dtype) {
  constexpr double kRoundings = 8;
  if (dtype == DType::bf16) return 0x1p-5;
  if (is_product(op.op())) return kRoundings * operand_rounding(op);
  return dtype == DType::fp16 ? 0x1p-8 : 0x1p-10;
}

void fail(TensorResult& tensor, std::string reason) {
  if (const WorstElement& worst = tensor.stats.worst_abs; worst.index >= 0) {
    reason += fmt::format("; worst at {}: {}, expected {}",
                          index_text(judged_shape(tensor.match), worst.index),
                          value_text(worst.actual), value_text(worst.expected));
  }
  tensor.judgement = {Verdict::failed, std::move(reason)};
}

void judge_output(const OperatorResult& op, double input_error, TensorResult& tensor) {
  const double error = sum_error(op, tensor);
  const double own = own_error(op, judged_dtype(tensor.match));
  const double allowed = std::max(own, kGrowth * input_error);
  if (error <= allowed) return;
  fail(
      tensor,
      fmt::format("off by {:.3g} of its size, at most {:.3g} allowed: its inputs are off by {:.3g}",
                  error, allowed, input_error));
}

// A weight, or what else no operator of the dumps made: it has no inputs that would explain it.
void judge_input(const OperatorResult& op, double before, TensorResult& tensor) {
  const double error = sum_error(op, tensor);
  const double allowed = std::max(0x1p-5, kGrowth * before);
  if (error <= allowed) return;
  fail(tensor, fmt::format("off by {:.3g} of its size, at most {:.3g} allowed: no output before it "
                           "is off by more than {:.3g}",
                           error, allowed, before));
}

// The places of values that are off.
void mistrust_places(TensorResult& tensor) {
  if (tensor.judgement.verdict != Verdict::failed) return;
  tensor.judgement = {Verdict::mistrusted,
                      fmt::format("{} of {} whole numbers differ, of inputs that are off",
                                  tensor.stats.unequal, tensor.stats.count)};
}

}  // namespace

void hold_to_inputs(Comparison& comparison) {
  if (comparison.standard.kind != StandardKind::fp16_cube) return;
  double before = 0;  // the largest error of an output so far
  for (OperatorResult& op : comparison.operators) {
    double input_error = 0;  // of those that do not fail, which come first
    for (TensorResult& tensor : op.tensors) {
      const bool is_input = tensor.entry().side == Side::input;
      if (!tensor.is_measured) continue;
      if (!is_floating(judged_dtype(tensor.match))) {
        if (!is_input && input_error > 0) mistrust_places(tensor);
        continue;
      }
      if (tensor.standard.kind != StandardKind::fp16_cube ||
          tensor.judgement.verdict == Verdict::failed) {
        continue;
      }
      const bool is_free = is_random(op) || (is_adaptive(op.op()) && input_error > 0);
      if (is_input) {
        judge_input(op, before, tensor);
        if (tensor.judgement.verdict == Verdict::failed) continue;
        input_error = std::max(input_error, sum_error(op, tensor));
      } else if (!is_free) {
        judge_output(op, input_error, tensor);
      }
    }
    const double error = sum_error(op, Side::output).value_or(0);
    if (std::isfinite(error)) before = std::max(before, error);
  }
}

}  // namespace opbench
