#include "judge/judge_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "judge/bound.h"
#include "judge/control.h"
#include "judge/hidden_faults.h"
#include "judge/indices.h"
#include "judge/magnitudes.h"
#include "judge/outside_contract.h"
#include "judge/standards.h"
#include "tensor/half.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

// Values of the inputs at element `index` of output `output`: "inputs there: self=88.75, grad=0.5".
// Empty if an element of the output does not depend on the same place of the inputs.
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

DType judged_dtype(const CallToJudge& call, std::size_t output) {
  const DType dtype = call.problem.outputs[output].dtype;
  return is_floating(dtype) ? call.maker.operands.value_or(dtype) : dtype;
}

// The scale of the kernel's output. If its size differs from the expected size, it fails.
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

// The standard for the numbers in a report. It also decides for moved data and conversions. Moved
// data keeps its bits; a conversion may choose the payload of a NaN.
Standard standard_of(const CallToJudge& call, std::size_t output) {
  const Op& op = *call.problem.op;
  Standard standard{.kind = StandardKind::exact};
  if (is_exact(call.problem)) {
    standard.tolerance.equality =
        op.accuracy == AccuracyClass::exact_value ? Equality::bits_but_nan : Equality::bits;
  } else if (op.accuracy == AccuracyClass::rounded) {
    standard =
        standard_for(builtin_standards(), call.rule.standard, op.name, judged_dtype(call, output));
  }
  return standard;
}

bool is_held_to_bound(const CallToJudge& call, std::size_t output) {
  const Op& op = *call.problem.op;
  const DType dtype = call.problem.outputs[output].dtype;
  return call.rule.kind != OutputRule::Kind::standard && !is_exact(call.problem) &&
         op.accuracy == AccuracyClass::rounded && (is_floating(dtype) || op.is_quantised(dtype));
}

/// A part of an output, measured and checked under every claim.
struct HeldPart {
  PairStats stats;
  std::vector<HeldElements> held;

  void merge(const HeldPart& later) {
    stats.merge(later.stats);
    held.resize(later.held.size());
    for (std::size_t i = 0; i < held.size(); ++i) held[i].merge(later.held[i]);
  }
};

/// An output with its golden values.
class OutputPair {
 public:
  OutputPair(const CallToJudge& call, std::size_t output)
      : call_(call),
        output_(output),
        desc_(call.problem.outputs[output]),
        blocks_(desc_, call.most_elements),
        storage_(call.outputs[output]),
        inputs_(inputs_of_reference(call, output)),
        standard_(standard_of(call, output)) {
    const Op& op = *call.problem.op;
    if (is_exact(call.problem)) {
      exact_ = op.exact_reference(inputs_, call.problem.attrs);
    } else if (is_held_to_bound(call, output)) {
      bound_.emplace(call.problem, inputs_, output);
      claims_ = claims_of(call.problem, output, call.maker);
    } else {
      reference_ = op.reference(inputs_, call.problem.attrs);
    }
    if (standard_.tolerance.follows_scale) {
      scale_ = std::min(1.0, output_scale(desc_, blocks_, storage_));
    }
  }

  /// On failure, judges again without elements outside the variant's contract. If that passes, the
  /// errors of all elements are reported; otherwise those of the rest.
  JudgedOutput judged(bool allows_limit) const {
    JudgedOutput found = judged_without(nullptr);
    if (found.judgement.verdict != Verdict::failed || call_.kernel == nullptr) return found;
    const OutsideContract outside(call_, output_, allows_limit);
    if (!outside.is_any()) return found;
    JudgedOutput rest = judged_without(&outside);
    if (rest.judgement.verdict != Verdict::failed) rest.stats = std::move(found.stats);
    return rest;
  }

 private:
  JudgedOutput judged_without(const OutsideContract* outside) const {
    std::vector<HeldPart> parts(static_cast<std::size_t>(blocks_.count()));
    parallel_blocks(blocks_.count(), [&](std::int64_t i) {
      parts[static_cast<std::size_t>(i)] = measured(blocks_.at(i), outside);
    });
    HeldPart all{{}, std::vector<HeldElements>(claims_.size())};
    for (const HeldPart& part : parts) all.merge(part);
    return bound_ ? judged_by_bound(std::move(all)) : judged_by_standard(std::move(all.stats));
  }

  JudgedOutput judged_by_standard(PairStats stats) const {
    JudgedOutput found;
    found.judgement = judge(stats, standard_, {desc_.shape, desc_.dtype});
    found.formula = formula(standard_, stats.scale);
    found.named = named_element(stats, standard_);
    found.stats = std::move(stats);
    return found;
  }

  JudgedOutput judged_by_bound(HeldPart all) const {
    const auto right = std::find_if(all.held.begin(), all.held.end(),
                                    [](const HeldElements& held) { return held.wrong == 0; });
    const auto at =
        static_cast<std::size_t>(right == all.held.end() ? 0 : right - all.held.begin());
    JudgedOutput found;
    found.claim = claims_[at];
    found.formula = bound_->formula(found.claim);
    if (right != all.held.end()) {
      found.judgement = passed(all.stats);
    } else {
      const HeldElements& held = all.held[0];
      found.judgement = {Verdict::failed, beyond_text(held, all.stats.count, desc_)};
      found.named = held.worst;
      found.allowed_share = bound_->share_of_result(found.claim);
      found.allowed =
          std::max(0.0, held.allowed - found.allowed_share * std::fabs(held.worst.expected));
    }
    found.stats = std::move(all.stats);
    return found;
  }

  HeldPart measured(ElementRange range, const OutsideContract* outside) const {
    thread_local std::vector<std::byte> actual, expected;
    thread_local std::vector<double> golden, values;
    actual.resize(static_cast<std::size_t>(range.count) * size_of(desc_.dtype));
    expected.resize(actual.size());
    golden.resize(static_cast<std::size_t>(range.count));
    read_elements(desc_, storage_, range, actual.data());
    read_golden(range, golden, expected.data());
    if (outside != nullptr) outside->forgive(range, expected.data(), actual.data());
    HeldPart part;
    part.stats = measure_values({desc_.dtype, desc_.dtype, actual.data(), expected.data(), range},
                                standard_.tolerance, scale_);
    if (bound_) {
      values.resize(golden.size());
      to_doubles(desc_.dtype, actual.data(), range.count, values.data());
      part.held = bound_->hold(claims_, range, values, golden);
    }
    return part;
  }

  // Errors are measured from the result rounded to the output's dtype: the half unit of the format
  // is not an error of the kernel.
  void read_golden(ElementRange range, std::vector<double>& golden, std::byte* rounded) const {
    if (exact_) {
      exact_(output_, range, rounded);
    } else {
      (bound_ ? bound_->expected() : reference_)(output_, range, golden);
      from_doubles(desc_.dtype, golden.data(), range.count, rounded);
    }
    if (!call_.maker.saturates || desc_.dtype != DType::fp16) return;
    auto* const bits = reinterpret_cast<std::uint16_t*>(rounded);
    std::transform(bits, bits + range.count, bits, saturated_fp16);
  }

  const CallToJudge& call_;
  std::size_t output_;
  const TensorDesc& desc_;
  SampledBlocks blocks_;
  const void* storage_;
  std::vector<InputReader> inputs_;
  Standard standard_;
  double scale_ = 1;
  ExactReference exact_;
  Reference reference_;
  std::optional<ErrorBound> bound_;
  std::vector<Claim> claims_;
};

}  // namespace

CallToJudge call_of(const Problem& problem, const Kernel& kernel, bool saturates) {
  return {.problem = problem,
          .kernel = &kernel,
          // Frameworks on this CPU compute with the vendor's library.
          .maker = {.device = kernel.provider == Provider::vendor ? std::optional(DeviceType::cpu)
                                                                  : std::nullopt,
                    .operands = kernel.judged_as,
                    .saturates = saturates}};
}

std::vector<InputReader> readers_of(const CallToJudge& call) {
  std::vector<InputReader> inputs;
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    inputs.emplace_back(call.problem.inputs[i], call.inputs[i]);
  }
  return inputs;
}

std::string reason_of_limit(const CallToJudge& call, std::size_t output) {
  if (call.kernel == nullptr || call.kernel->limit.holds == nullptr) return {};
  const bool is_right = OutputPair(call, output).judged(true).judgement.verdict != Verdict::failed;
  return is_right ? std::string(call.kernel->limit.reason) : std::string();
}

namespace {

// The result for narrowed operands of a matrix unit in place of the recorded ones; empty if it is
// wrong for each width.
std::optional<JudgedOutput> judged_of_narrow_operands(const CallToJudge& call, std::size_t output) {
  const std::vector<InputReader> inputs = readers_of(call);
  for (const OperandClaim& claim : operand_claims_of(call.problem, call.maker)) {
    const std::vector<Tensor> narrowed = narrowed_operands(inputs, *call.problem.op, claim.width);
    CallToJudge other = call;
    for (std::size_t i = 0; i < narrowed.size(); ++i) other.inputs[i] = narrowed[i].data();
    JudgedOutput found = OutputPair(other, output).judged(false);
    if (found.judgement.verdict == Verdict::failed) continue;
    found.claim.name = claim.name;
    found.formula += fmt::format(" ({})", claim.name);
    return found;
  }
  return std::nullopt;
}

}  // namespace

JudgedOutput judge_output(const CallToJudge& call, std::size_t output) {
  JudgedOutput found = OutputPair(call, output).judged(false);
  if (found.judgement.verdict == Verdict::failed && is_right_but_for_ties(call, output)) {
    found.judgement = {};
    found.claim.name = "another order among equals";
    found.formula = "each index names an element equal to the expected one";
    return found;
  }
  if (call.rule.kind == OutputRule::Kind::control && is_held_to_bound(call, output)) {
    hold_to_control(call, output, found);
    return found;
  }
  if (found.judgement.verdict == Verdict::failed) {
    if (auto narrow = judged_of_narrow_operands(call, output)) return std::move(*narrow);
  }
  if (found.judgement.verdict != Verdict::failed && output == 0) {
    const std::vector<InputReader> inputs = readers_of(call);
    const std::string reason = wrong_update(call.problem, inputs, call.outputs[0]);
    if (!reason.empty()) found.judgement = {Verdict::failed, reason};
    return found;
  }
  if (found.judgement.verdict == Verdict::failed) {
    const std::string there = inputs_there(call, output, found.named.index);
    if (!there.empty()) found.judgement.reason += "; " + there;
  }
  return found;
}

}  // namespace opbench
