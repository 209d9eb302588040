#include "judge/sum_blocks.h"

#include <cmath>
#include <vector>

#include "judge/pair_rules.h"
#include "ops/intermediates.h"

namespace opbench {
namespace {

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
