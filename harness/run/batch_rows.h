#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "harness/run/kernel_run.h"

namespace opbench {

/// A use of an operator whose outputs fall into rows along their first axis, each of which depends
/// on one row of some inputs and on all of the others.
class BatchRows {
 public:
  BatchRows(Problem whole, Problem row, std::vector<bool> is_cut)
      : whole_(std::move(whole)), row_(std::move(row)), is_cut_(std::move(is_cut)) {}

  const Problem& problem_of_row() const { return row_; }
  /// The first, the last and two between, each once.
  std::vector<std::int64_t> some() const;
  InputElements inputs_of(std::int64_t row, const InputElements& all) const;
  /// Puts the outputs of a row alone in their places among all.
  void put(std::int64_t row, const std::vector<Elements>& alone, std::vector<Elements>& all) const;

 private:
  std::int64_t rows() const { return whole_.outputs[0].shape[0]; }

  Problem whole_, row_;
  std::vector<bool> is_cut_;  // by input
};

/// The rows of a problem with these values: which inputs are cut is found by the reference, whose
/// values for a row alone must be those that it has among the others. None where no cut does that.
std::optional<BatchRows> find_batch_rows(const Problem& problem, const InputElements& inputs);

}  // namespace opbench
