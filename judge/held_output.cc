#include "judge/held_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <vector>

#include "judge/pair_rules.h"
#include "judge/standards.h"
#include "ops/intermediates.h"
#include "tensor/dtype.h"

namespace opbench {
namespace {

// What elements are beyond that fail the standard.
AllowedError bound_of(const CallUnderJudgement& call, std::size_t output, const PairStats& stats) {
  const DType dtype = call.problem().outputs[output].dtype;
  if (call.problem().op->accuracy != AccuracyClass::rounded || !is_floating(dtype)) return {};
  const Tolerance tolerance = mixed_tolerance(dtype);
  const bool is_by_limit = stats.inside_share() >= tolerance.inside_share &&
                           stats.nonfinite_mismatches() == 0 && stats.beyond_limit > 0;
  if (is_by_limit) {
    return {limit_at(at_scale(tolerance, stats.scale, dtype), stats.worst_beyond.expected), 0};
  }
  return {tolerance.atol * stats.scale, tolerance.rtol};
}

/// Some elements of an output that are sums, in logical order.
struct SumBlock {
  ElementRange range;
  std::span<const double> actual, expected;
  std::span<const double> terms;  ///< the sum of the magnitudes of what each element adds up
};

// Hands an output of a call that adds up over to `look`, block by block. Returns false, and hands
// nothing over, where the operator's terms are not known.
bool for_each_sum_block(const CallUnderJudgement& call, std::size_t output,
                        const std::function<void(const SumBlock&)>& look) {
  const Problem& problem = call.problem();
  const TensorDesc& desc = problem.outputs[output];
  const Reference terms = intermediates_of(*problem.op, call.inputs(), problem.attrs).rounding;
  if (terms == nullptr) return false;
  const Reference expected = problem.op->reference(call.inputs(), problem.attrs);
  std::vector<double> actual_values, expected_values, term_values;
  for (std::int64_t i = 0; i < block_count(desc); ++i) {
    const ElementRange range = block(desc, i);
    for (auto* values : {&actual_values, &expected_values, &term_values}) {
      values->resize(static_cast<std::size_t>(range.count));
    }
    read_doubles(desc, call.output(output), range, actual_values);
    expected(output, range, expected_values);
    terms(output, range, term_values);
    look({range, actual_values, expected_values, term_values});
  }
  return true;
}

/// Looks for the element that is furthest beyond a share of its terms.
class BeyondTerms {
 public:
  BeyondTerms(DType dtype, double share) : dtype_(dtype), share_(share) {}

  void look_at(const SumBlock& block) {
    for (std::size_t i = 0; i < block.terms.size(); ++i) {
      const double actual = block.actual[i], expected = block.expected[i];
      const double error = std::fabs(actual - expected);
      const double allowed = std::max(share_ * block.terms[i], smallest_unit(dtype_));
      // What leaves the dtype is judged as such.
      const bool is_in_range = std::fabs(expected) <= largest_finite(dtype_);
      if (!is_in_range || !std::isfinite(error) || error <= beyond_ * allowed) continue;
      beyond_ = error / allowed;
      stray_ = {block.range.first + static_cast<std::int64_t>(i), actual, expected, error};
      allowed_ = allowed;
    }
  }

  /// With index -1 where none is beyond.
  const WorstElement& stray() const { return stray_; }
  double allowed() const { return allowed_; }  ///< of the element that was found

 private:
  DType dtype_;
  double share_, beyond_ = 1, allowed_ = 0;
  WorstElement stray_;
};

// The tolerance follows the scale of the whole tensor: rows and channels that are far smaller may
// be anything. Each sum is off by no more than a share of what its own terms come to. Where all are
// off by as little as sums in fp32 are, or the reference takes long, that is not looked at.
std::string beyond_terms(const CallUnderJudgement& call, std::size_t output, double most,
                         HeldOutput& held) {
  constexpr double kRounding = 0x1p-18, kMostOperations = 0x1p28;
  const Problem& problem = call.problem();
  const PairStats& stats = held.found.stats;
  const bool is_wanted = problem.op->mixing == Mixing::sums &&
                         stats.worst_abs.error > kRounding * stats.scale &&
                         problem.op->traffic(problem).operations <= kMostOperations;
  if (!is_wanted) return {};
  BeyondTerms beyond(problem.outputs[output].dtype, most);
  for_each_sum_block(call, output, [&](const SumBlock& block) { beyond.look_at(block); });
  if (beyond.stray().index < 0) return {};
  held.stray = beyond.stray();
  // Others are wrong by as much of themselves, rounding of the largest sums aside.
  held.bound = {std::min(beyond.allowed(), kRounding * stats.scale), most};
  return fmt::format(
      "an element that no terms explain at {}: {}, expected {}, where {:.3g} may be off",
      index_text(problem.outputs[output].shape, held.stray.index), value_text(held.stray.actual),
      value_text(held.stray.expected), beyond.allowed());
}

// The standard lets some elements of a hundred be off by as much as the tensor's scale: a kernel
// that leaves out its last elements would pass. Here none may be off by more than the tolerance, or
// several times the tolerance where many terms are added up.
std::string stray_element(const CallUnderJudgement& call, std::size_t output, HeldOutput& held) {
  const PairStats& stats = held.found.stats;
  constexpr double kTimesOfSums = 4;
  const Problem& problem = call.problem();
  const TensorDesc& desc = problem.outputs[output];
  if (problem.op->accuracy != AccuracyClass::rounded || !is_floating(desc.dtype)) return {};
  const double times = problem.op->mixes_elements() ? kTimesOfSums : 1;
  const double most = times * mixed_tolerance(desc.dtype).rtol;
  if (stats.worst_abs.index < 0) return {};
  if (std::string fault = beyond_terms(call, output, most, held); !fault.empty()) return fault;
  if (stats.min_tolerance <= most) return {};
  double scale = stats.scale;
  if (problem.op->mixes_elements()) scale = std::max(scale, call.terms_scale(output));
  const auto allowed_at = [&](const WorstElement& element) {
    return std::max(most * (scale + std::abs(element.expected)), smallest_unit(desc.dtype));
  };
  if (stats.worst_abs.error <= allowed_at(stats.worst_abs)) return {};
  const WorstElement worst = call.worst_unexplained(output, stats.scale);
  const double allowed = allowed_at(worst);
  if (worst.index < 0 || worst.error <= allowed) return {};
  held.stray = worst;
  held.bound = {std::max(most * scale, smallest_unit(desc.dtype)), most};
  return fmt::format("a stray element at {}: {}, expected {}, where {:.3g} may be off",
                     index_text(desc.shape, worst.index), value_text(worst.actual),
                     value_text(worst.expected), allowed);
}

constexpr double kUnitRoundoff = 0x1p-9;  // of bf16
// Of u (T + sqrt(n) |f|): at most 3.8 in 130,000 elements of convolutions and products of 9 to 4096
// terms, 0.39 as a root mean square; 4.8 of 4096 positive terms.
constexpr double kMost = 6, kMostTypical = 0.75;

/// What the elements of an output are off by, of what they may be.
class NarrowSums {
 public:
  explicit NarrowSums(double terms) : root_(std::sqrt(terms)) {}

  void add(double actual, double expected, double magnitude) {
    if (actual == expected || (std::isnan(actual) && std::isnan(expected))) return;
    const double unit =
        kUnitRoundoff * (magnitude + root_ * std::fabs(expected)) + smallest_unit(DType::bf16);
    const double error = std::fabs(actual - expected) / unit;
    if (!(error <= kMost)) is_beyond_ = true;
    if (std::fabs(actual) < std::fabs(expected)) return;
    squares_ += error * error;
    ++larger_;
  }

  bool hold() const {
    return !is_beyond_ && squares_ <= kMostTypical * kMostTypical * double(larger_);
  }

 private:
  double root_, squares_ = 0;
  std::int64_t larger_ = 0;
  bool is_beyond_ = false;
};

}  // namespace

HeldOutput hold(const CallUnderJudgement& call, std::size_t output, bool saturates) {
  HeldOutput held{call.judge(output, saturates)};
  held.bound = bound_of(call, output, held.found.stats);
  held.fault = held.found.judgement.verdict == Verdict::failed ? held.found.judgement.reason
                                                               : stray_element(call, output, held);
  return held;
}

bool adds_in_bf16(const CallUnderJudgement& call, std::size_t output) {
  const Problem& problem = call.problem();
  const TensorDesc& desc = problem.outputs[output];
  if (desc.dtype != DType::bf16 || problem.op->mixing != Mixing::sums) return false;
  NarrowSums sums(problem.op->traffic(problem).operations / double(desc.elements()));
  const auto add = [&](const SumBlock& block) {
    for (std::size_t k = 0; k < block.terms.size(); ++k) {
      sums.add(block.actual[k], block.expected[k], block.terms[k]);
    }
  };
  return for_each_sum_block(call, output, add) && sums.hold();
}

}  // namespace opbench
