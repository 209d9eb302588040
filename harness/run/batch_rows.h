#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "harness/run/kernel_run.h"

namespace opbench {

/// A use of an operator whose outputs consist of rows along their first axis. Each row depends on
/// one row of some inputs and on the whole of the others.
class BatchRows {
 public:
  BatchRows(Problem whole, Problem row, std::vector<bool> is_cut)
      : whole_(std::move(whole)), row_(std::move(row)), is_cut_(std::move(is_cut)) {}

  const Problem& problem_of_row() const { return row_; }
  /// The first two rows, the middle row and the last, without duplicates.
  std::vector<std::int64_t> some() const;
  InputElements inputs_of(std::int64_t row, const InputElements& all) const;
  /// Copies the outputs of a single row to their places in the full outputs.
  void put(std::int64_t row, const std::vector<Elements>& alone, std::vector<Elements>& all) const;

 private:
  std::int64_t rows() const { return whole_.outputs[0].shape[0]; }

  Problem whole_, row_;
  std::vector<bool> is_cut_;  // by input
};

/// Rows of a problem with these values. The reference decides which inputs are cut: its values for
/// a single row must equal those of that row in the full batch. None if no cut has this property.
std::optional<BatchRows> find_batch_rows(const Problem& problem, const InputElements& inputs);

}  // namespace opbench
