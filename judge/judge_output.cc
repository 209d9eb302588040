#include "judge/judge_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "judge/compare_values.h"
#include "judge/explained_errors.h"
#include "judge/hidden_faults.h"
#include "judge/magnitudes.h"
#include "judge/standards.h"
#include "tensor/half.h"

namespace opbench {
namespace {

// What the inputs of a call hold at element `index` of output `output`: "inputs there: self=88.75,
// grad=0.5". Empty where an element of the output does not come from those at its own place.
std::string inputs_there(const CallToJudge& what, std::size_t output, std::int64_t index) {
  const Problem& problem = what.problem;
  const bool is_elementwise =
      !problem.op->mixes_elements() && problem.op->accuracy == AccuracyClass::rounded;
  if (!is_elementwise || index < 0) return {};
  std::string text;
  for (std::size_t i = 0; i < problem.inputs.size(); ++i) {
    const TensorDesc& desc = problem.inputs[i];
    if (desc.shape != problem.outputs[output].shape) continue;
    double value = 0;
    read_doubles(desc, what.inputs[i], {index, 1}, {&value, 1});
    text += fmt::format("{} {}={}", text.empty() ? "inputs there:" : ",", problem.op->input_name(i),
                        value_text(value));
  }
  return text;
}

/// Writes the golden values of a block of an output, dense and in its dtype.
using GoldenBlock = std::function<void(ElementRange range, void* to)>;

Tolerance tolerance_of(const CallToJudge& what, std::size_t output) {
  const DType dtype = what.problem.outputs[output].dtype;
  return mixed_tolerance(is_floating(dtype) ? what.kernel.judged_as.value_or(dtype) : dtype);
}

// Of what the kernel wrote: where that is of another size than what is expected, it fails.
double output_scale(const TensorDesc& desc, const SampledBlocks& blocks, const void* storage) {
  Magnitudes magnitudes;
  std::vector<double> values;
  for (std::int64_t i = 0; i < blocks.count(); ++i) {
    const ElementRange range = blocks.at(i);
    values.resize(static_cast<std::size_t>(range.count));
    read_doubles(desc, storage, range, values);
    magnitudes.add(values.data(), range.count);
  }
  return magnitudes.scale();
}

// Data that is moved keeps its bits; a conversion may choose the payload of a NaN.
Standard standard_of(const CallToJudge& what, std::size_t output) {
  const Op& op = *what.problem.op;
  Standard standard{.kind = StandardKind::exact};
  if (op.exact_reference != nullptr) {
    standard.tolerance.equality =
        op.accuracy == AccuracyClass::exact_value ? Equality::bits_but_nan : Equality::bits;
  } else if (op.accuracy == AccuracyClass::rounded) {
    standard.kind = StandardKind::mixed;
    standard.tolerance = tolerance_of(what, output);
  }
  return standard;
}

GoldenBlock exact_golden(const Problem& problem, std::span<const InputReader> inputs,
                         std::size_t output) {
  return [output, reference = problem.op->exact_reference(inputs, problem.attrs)](
             ElementRange range, void* to) { reference(output, range, to); };
}

// Rounded to the output's dtype: half a unit of the format is not the kernel's error.
GoldenBlock rounded_golden(const Problem& problem, std::span<const InputReader> inputs,
                           std::size_t output) {
  const DType dtype = problem.outputs[output].dtype;
  return [dtype, output, reference = problem.op->reference(inputs, problem.attrs)](
             ElementRange range, void* to) {
    thread_local std::vector<double> golden;
    golden.resize(static_cast<std::size_t>(range.count));
    reference(output, range, golden);
    from_doubles(dtype, golden.data(), range.count, to);
  };
}

GoldenBlock golden_of(const CallToJudge& what, std::span<const InputReader> inputs,
                      std::size_t output) {
  const Problem& problem = what.problem;
  GoldenBlock golden = problem.op->exact_reference != nullptr
                           ? exact_golden(problem, inputs, output)
                           : rounded_golden(problem, inputs, output);
  if (!what.saturates || problem.outputs[output].dtype != DType::fp16) return golden;
  return [golden = std::move(golden)](ElementRange range, void* to) {
    golden(range, to);
    auto* const bits = static_cast<std::uint16_t*>(to);
    std::transform(bits, bits + range.count, bits, saturated_fp16);
  };
}

std::vector<InputReader> readers_of(const CallToJudge& what) {
  std::vector<InputReader> inputs;
  for (std::size_t i = 0; i < what.inputs.size(); ++i) {
    inputs.emplace_back(what.problem.inputs[i], what.inputs[i]);
  }
  return inputs;
}

/// An output beside its golden values.
class OutputPair {
 public:
  OutputPair(const CallToJudge& what, std::size_t output, bool allows_limit)
      : what_(what),
        output_(output),
        allows_limit_(allows_limit),
        desc_(what.problem.outputs[output]),
        blocks_(desc_, what.most_elements),
        storage_(what.outputs[output]),
        inputs_(readers_of(what)),
        standard_(standard_of(what, output)),
        golden_(golden_of(what, inputs_, output)) {}

  const Standard& standard() const { return standard_; }
  double scale() const { return output_scale(desc_, blocks_, storage_); }

  /// Where that fails: without what the variant does not answer for and the differences that
  /// intermediate results explain. Errors are told as they are, those that are left where it fails
  /// still.
  ValueComparison judged_at(double scale) const {
    ValueComparison found = compared_at(scale, [](ElementRange, const void*, void*) {});
    if (found.judgement.verdict != Verdict::failed) return found;
    const OutsideContract outside(what_, output_, allows_limit_);
    const RoundingSlack slack = slack_of_intermediates();
    if (!outside.is_any() && !slack.is_any()) return found;
    ValueComparison rest = without(outside, slack, scale);
    if (rest.judgement.verdict == Verdict::failed) return rest;
    rest.stats = std::move(found.stats);
    return rest;
  }

  /// Of the differences that neither the variant's contract nor intermediate results explain.
  ValueComparison unexplained_at(double scale) const {
    return without(OutsideContract(what_, output_), slack_of_intermediates(), scale);
  }

 private:
  ValueComparison without(const OutsideContract& outside, const RoundingSlack& slack,
                          double scale) const {
    ValueComparison rest =
        compared_at(scale, [&](ElementRange range, const void* expected, void* actual) {
          if (outside.is_any()) outside.forgive(range, expected, actual);
          if (slack.is_any()) slack.forgive(output_, range, desc_.dtype, expected, actual);
        });
    if (slack.is_any()) {
      rest.formula += fmt::format(", or |a-e| <= {:.3g}*intermediates", slack.factor());
    }
    return rest;
  }

  RoundingSlack slack_of_intermediates() const {
    const Problem& problem = what_.problem;
    if (!standard_.tolerance.follows_scale) return {{}, {}, desc_.dtype, {}};
    return {problem.op->reference(inputs_, problem.attrs),
            intermediates_of(*problem.op, inputs_, problem.attrs), desc_.dtype,
            what_.kernel.judged_as};
  }

  // `forgive(range, expected, actual)` takes differences away.
  template <class Forgive>
  ValueComparison compared_at(double scale, const Forgive& forgive) const {
    const auto measure = [&](std::int64_t i) { return measured(blocks_.at(i), scale, forgive); };
    return compare_parts(blocks_.count(), measure, standard_, {desc_.shape, desc_.dtype});
  }

  template <class Forgive>
  PairStats measured(ElementRange range, double scale, const Forgive& forgive) const {
    thread_local std::vector<std::byte> actual, expected;
    actual.resize(static_cast<std::size_t>(range.count) * size_of(desc_.dtype));
    expected.resize(actual.size());
    golden_(range, expected.data());
    read_elements(desc_, storage_, range, actual.data());
    forgive(range, expected.data(), actual.data());
    return measure_values({desc_.dtype, desc_.dtype, actual.data(), expected.data(), range},
                          standard_.tolerance, scale);
  }

  const CallToJudge& what_;
  std::size_t output_;
  bool allows_limit_;
  const TensorDesc& desc_;
  SampledBlocks blocks_;
  const void* storage_;
  std::vector<InputReader> inputs_;
  Standard standard_;
  GoldenBlock golden_;
};

}  // namespace

double scale_of_condition(const CallToJudge& what, std::size_t output) {
  constexpr double kRoundoffs = 16 * 0x1p-24;
  const double condition = condition_scale(what, output);
  const DType dtype = what.problem.outputs[output].dtype;
  const bool is_narrowed =
      what.kernel.judged_as && size_of(*what.kernel.judged_as) < size_of(dtype);
  // Operands that are rounded to less change by as much as the standard of their dtype allows.
  return is_narrowed ? condition
                     : std::min(1.0, kRoundoffs / tolerance_of(what, output).atol) * condition;
}

namespace {

ValueComparison compare_output(const CallToJudge& what, std::size_t output,
                               bool allows_limit = false) {
  const OutputPair pair(what, output, allows_limit);
  if (!pair.standard().tolerance.follows_scale) return pair.judged_at(1);
  const double own = pair.scale(), scale = std::min(1.0, own);
  ValueComparison found = pair.judged_at(scale);
  const bool may_cancel =
      found.judgement.verdict == Verdict::failed && found.stats.nonfinite_mismatches() == 0;
  if (!may_cancel) return found;
  double terms = std::max(own, scale_of_condition(what, output));
  // What does not add up many elements is off by parts of itself: large values are no excuse.
  if (!what.problem.op->mixes_elements()) terms = std::min(1.0, terms);
  return terms > scale ? pair.judged_at(terms) : found;
}

}  // namespace

WorstElement worst_unexplained(const CallToJudge& what, std::size_t output, double scale) {
  return OutputPair(what, output, false).unexplained_at(scale).stats.worst_abs;
}

std::string reason_of_limit(const CallToJudge& what, std::size_t output) {
  if (what.kernel.limit.holds == nullptr) return {};
  const bool is_right = compare_output(what, output, true).judgement.verdict != Verdict::failed;
  return is_right ? std::string(what.kernel.limit.reason) : std::string();
}

ValueComparison judge_output(const CallToJudge& what, std::size_t output) {
  ValueComparison found = compare_output(what, output);
  if (found.judgement.verdict != Verdict::failed && output == 0) {
    const std::vector<InputReader> inputs = readers_of(what);
    const std::string reason = wrong_update(what.problem, inputs, what.outputs[0]);
    if (!reason.empty()) found.judgement = {Verdict::failed, reason};
    return found;
  }
  if (found.judgement.verdict == Verdict::failed) {
    const std::string there = inputs_there(what, output, found.named.index);
    if (!there.empty()) found.judgement.reason += "; " + there;
  }
  return found;
}

}  // namespace opbench
