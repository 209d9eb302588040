#include "harness/run/batch_rows.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "harness/plan/reference_kernel.h"
#include "tensor/error.h"

namespace opbench {
namespace {

// The problem of one row. None if the operator does not take it or its outputs have no rows.
std::optional<Problem> problem_of_row(const Problem& whole, const std::vector<bool>& is_cut) {
  std::vector<TensorDesc> inputs = whole.inputs;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (is_cut[i]) inputs[i].shape[0] = 1;
  }
  try {
    Problem row = make_problem(*whole.op, std::move(inputs), whole.attrs);
    if (row.outputs.size() != whole.outputs.size()) return std::nullopt;
    for (std::size_t i = 0; i < row.outputs.size(); ++i) {
      Dims expected = whole.outputs[i].shape;
      if (expected.empty() || expected[0] != whole.outputs[0].shape[0]) return std::nullopt;
      expected[0] = 1;
      if (row.outputs[i].shape != expected) return std::nullopt;
    }
    return row;
  } catch (const Error&) {
    return std::nullopt;
  }
}

// Candidate sets of inputs to cut: all inputs with as many rows as the outputs, then only the first
// of them. The right operand of a square matrix product also has that many rows, but must not be
// cut.
std::vector<std::vector<bool>> cuts_to_try(const Problem& problem) {
  const std::int64_t rows = problem.outputs[0].shape[0];
  std::vector<bool> all, first(problem.inputs.size());
  for (const TensorDesc& input : problem.inputs) {
    all.push_back(!input.shape.empty() && input.shape[0] == rows);
  }
  const auto place = std::find(all.begin(), all.end(), true);
  if (place == all.end()) return {};
  first[static_cast<std::size_t>(place - all.begin())] = true;
  return {all, first};
}

// False if an index refers to a row that was cut off.
bool are_allowed(const Problem& problem, const InputElements& inputs) {
  if (problem.op->check_values == nullptr) return true;
  std::vector<PlacedTensor> placed;
  std::vector<InputReader> readers;
  placed.reserve(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    placed.emplace_back(problem.inputs[i], 0, 0, 0).write(inputs[i]);
    readers.emplace_back(problem.inputs[i], placed.back().data());
  }
  try {
    problem.op->check_values(problem, readers);
  } catch (const Error&) {
    return false;
  }
  return true;
}

bool is_same_reference(const BatchRows& rows, const std::vector<Elements>& whole,
                       const InputElements& inputs) {
  for (const std::int64_t row : rows.some()) {
    const Problem& alone = rows.problem_of_row();
    const InputElements given = rows.inputs_of(row, inputs);
    if (!are_allowed(alone, given)) return false;
    std::vector<Elements> joined = whole;
    rows.put(row, run_kernel_on(reference_kernel(), alone, given, {}), joined);
    if (joined != whole) return false;
  }
  return true;
}

}  // namespace

std::vector<std::int64_t> BatchRows::some() const {
  const std::set<std::int64_t> some = {0, 1, rows() / 2, rows() - 1};
  return {some.begin(), some.end()};
}

InputElements BatchRows::inputs_of(std::int64_t row, const InputElements& all) const {
  InputElements inputs = all;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!is_cut_[i]) continue;
    const std::size_t bytes = all[i].size() / static_cast<std::size_t>(whole_.inputs[i].shape[0]);
    const auto begin =
        all[i].begin() + static_cast<std::ptrdiff_t>(bytes * static_cast<std::size_t>(row));
    inputs[i].assign(begin, begin + static_cast<std::ptrdiff_t>(bytes));
  }
  return inputs;
}

void BatchRows::put(std::int64_t row, const std::vector<Elements>& alone,
                    std::vector<Elements>& all) const {
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::copy(alone[i].begin(), alone[i].end(),
              all[i].begin() + static_cast<std::ptrdiff_t>(alone[i].size()) * row);
  }
}

std::optional<BatchRows> find_batch_rows(const Problem& problem, const InputElements& inputs) {
  if (problem.outputs.empty() || problem.outputs[0].shape.empty()) return std::nullopt;
  if (problem.outputs[0].shape[0] < 2) return std::nullopt;
  std::optional<std::vector<Elements>> whole;
  for (const std::vector<bool>& cut : cuts_to_try(problem)) {
    std::optional<Problem> row = problem_of_row(problem, cut);
    if (!row) continue;
    if (!whole) whole = run_kernel_on(reference_kernel(), problem, inputs, {});
    BatchRows rows(problem, std::move(*row), cut);
    if (is_same_reference(rows, *whole, inputs)) return rows;
  }
  return std::nullopt;
}

}  // namespace opbench
