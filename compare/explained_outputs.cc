#include "compare/explained_outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <tuple>

#include "compare/operator_error.h"
#include "judge/comparable.h"
#include "judge/judge.h"

namespace opbench {
namespace {

/// By what a pair of tensors is known again where another operator reads it.
using Likeness = std::tuple<std::int64_t, double, double, double>;

Likeness likeness_of(const PairStats& stats) {
  return {stats.count, stats.sum_abs, stats.sum_expected_abs, stats.worst_abs.error};
}

bool may_have_cancelled(const TensorResult& tensor) {
  return tensor.is_measured && tensor.standard->kind == StandardKind::mixed &&
         tensor.judgement.verdict == Verdict::failed && tensor.stats.nonfinite_mismatches() == 0;
}

// All elements are inside a tolerance that follows `terms`.
void pass_at(double terms, TensorResult& tensor) {
  PairStats& stats = tensor.stats;
  stats.scale = terms;
  stats.inside = stats.count;
  stats.beyond_limit = 0;
  stats.worst_outside = stats.worst_beyond = {};
  stats.min_tolerance = stats.worst_abs.error / terms;
  // A passed comparison may still be weak evidence.
  tensor.judgement =
      judge(stats, tensor.standard, {judged_shape(tensor.match), judged_dtype(tensor.match)});
}

/// Scales of the outputs that passed so.
class PassedSums {
 public:
  // An input has the terms of the output that it is; a gradient that is looked at again as well.
  double scale_of(const OperatorResult& op, const TensorResult& tensor) const {
    if (tensor.entry().side == Side::output) return terms_scale(op, tensor);
    const auto found = scales_.find(likeness_of(tensor.stats));
    return found == scales_.end() ? 0 : found->second;
  }
  void add(const TensorResult& tensor) {
    scales_.emplace(likeness_of(tensor.stats), tensor.stats.scale);
  }

 private:
  std::map<Likeness, double> scales_;
};

// Of errors from inputs to outputs: the backward pass of a batch norm in a healthy pair reaches 5.
constexpr double kGrowth = 8;

double own_error(const OperatorResult& op, DType dtype) {
  constexpr double kRoundings = 8;
  if (dtype == DType::bf16) return 0x1p-5;
  if (is_product(op.op())) return kRoundings * operand_rounding(op);
  return dtype == DType::fp16 ? 0x1p-8 : 0x1p-10;
}

// Of what allows as much, in words and as a number: "its inputs are off by", 0.005.
void hold(const OperatorResult& op, double allowed, std::string_view because, double number,
          TensorResult& tensor) {
  const double error = sum_error(op, tensor);
  if (error <= allowed) return;
  std::string reason = fmt::format("off by {:.3g} of its size, at most {:.3g} allowed: {} {:.3g}",
                                   error, allowed, because, number);
  if (const WorstElement& worst = tensor.stats.worst_abs; worst.index >= 0) {
    reason += fmt::format("; worst at {}: {}, expected {}",
                          index_text(judged_shape(tensor.match), worst.index),
                          value_text(worst.actual), value_text(worst.expected));
  }
  tensor.judgement = {Verdict::failed, std::move(reason)};
}

// `input_error`: of the inputs that do not fail.
void judge_output(const OperatorResult& op, double input_error, TensorResult& tensor) {
  const double own = own_error(op, judged_dtype(tensor.match));
  hold(op, std::max(own, kGrowth * input_error), "its inputs are off by", input_error, tensor);
}

// By its name: no operator of the dumps made it, so that no error of theirs explains its own.
bool is_parameter(std::string_view name) {
  constexpr std::array<std::string_view, 5> kWords = {"weight", "bias", "mat2", "running_",
                                                      "gamma"};
  return std::any_of(kWords.begin(), kWords.end(), [&](std::string_view word) {
    return name.find(word) != std::string_view::npos;
  });
}

// A product of two activations has a mat2, too: it is as far off as the outputs before it.
void judge_parameter(const OperatorResult& op, double before, TensorResult& tensor) {
  hold(op, std::max(0x1p-5, kGrowth * before), "no output before it is off by more than", before,
       tensor);
}

// The places of values that are off.
void mistrust_places(TensorResult& tensor) {
  if (tensor.judgement.verdict != Verdict::failed) return;
  tensor.judgement = {Verdict::mistrusted,
                      fmt::format("{} of {} whole numbers differ, of inputs that are off",
                                  tensor.stats.unequal, tensor.stats.count)};
}

bool is_held(const TensorResult& tensor) {
  return tensor.is_measured && tensor.standard->kind == StandardKind::fp16_cube &&
         tensor.judgement.verdict != Verdict::failed;
}

bool holds_any(const OperatorResult& op) {
  return std::any_of(op.tensors.begin(), op.tensors.end(), [](const TensorResult& tensor) {
    return tensor.standard->kind == StandardKind::fp16_cube;
  });
}

/// Holds the tensors of one operator, inputs first.
void hold_tensors(OperatorResult& op, double before) {
  const double all_inputs = sum_error(op, Side::input).value_or(0);
  double right_inputs = 0;
  for (TensorResult& tensor : op.tensors) {
    if (tensor.entry().side != Side::input || !is_held(tensor)) continue;
    if (is_parameter(tensor.entry().name)) judge_parameter(op, before, tensor);
    if (tensor.judgement.verdict == Verdict::failed) continue;
    right_inputs = std::max(right_inputs, sum_error(op, tensor));
  }
  const bool is_free = is_random(op) || (is_adaptive(op.op()) && all_inputs > 0);
  for (TensorResult& tensor : op.tensors) {
    if (tensor.entry().side == Side::input || !tensor.is_measured) continue;
    if (!is_floating(judged_dtype(tensor.match))) {
      if (all_inputs > 0) mistrust_places(tensor);
    } else if (is_held(tensor) && !is_free) {
      judge_output(op, right_inputs, tensor);
    }
  }
}

}  // namespace

void hold_to_terms(Comparison& comparison) {
  PassedSums passed;
  for (OperatorResult& op : comparison.operators) {
    for (TensorResult& tensor : op.tensors) {
      if (!may_have_cancelled(tensor)) continue;
      const double terms = passed.scale_of(op, tensor);
      const bool is_rounding =
          tensor.stats.worst_abs.error <= tensor.standard->tolerance.atol * terms;
      if (terms <= tensor.stats.scale || !is_rounding) continue;
      pass_at(terms, tensor);
      passed.add(tensor);
    }
  }
}

void hold_to_inputs(Comparison& comparison) {
  double before = 0;  // the largest error of an output so far
  for (OperatorResult& op : comparison.operators) {
    if (holds_any(op)) hold_tensors(op, before);
    const double error = sum_error(op, Side::output).value_or(0);
    if (std::isfinite(error)) before = std::max(before, error);
  }
}

}  // namespace opbench
