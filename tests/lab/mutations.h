#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "harness/run/kernel_run.h"

namespace opbench {

/// An honest kernel on given values, and what mutations need of it.
class HonestRun {
 public:
  /// Errors: whatever the kernel throws.
  HonestRun(const Kernel& kernel, const Case& c, std::uint64_t seed);

  const Kernel& kernel() const { return kernel_; }
  const Problem& problem() const { return problem_; }
  const InputElements& inputs() const { return inputs_; }
  const std::vector<Elements>& results() const { return results_; }
  /// What it makes of other inputs of the same problem, and of those of another seed.
  std::vector<Elements> results_of(const InputElements& inputs) const;
  const std::vector<Elements>& other_results() const { return others_; }

  std::vector<double> values(const TensorDesc& desc, const Elements& elements) const;
  Elements elements(const TensorDesc& desc, const std::vector<double>& values) const;

 private:
  const Kernel& kernel_;
  Problem problem_;
  InputElements inputs_;
  std::vector<Elements> results_, others_;
};

/// The results of a broken operator; none where it cannot be broken so.
using BrokenResults = std::optional<std::vector<Elements>>;

/// A way to break an operator.
struct Mutation {
  std::string_view name;
  std::string_view summary;
  BrokenResults (*break_it)(const HonestRun& run);
  std::string_view op = {};  ///< the only operator that has it; empty: any
};

/// Those that break what goes in or comes out of any operator, then those that break one operator's
/// formula.
std::vector<const Mutation*> all_mutations();
std::span<const Mutation> result_mutations();
std::span<const Mutation> input_mutations();
std::span<const Mutation> formula_mutations();

}  // namespace opbench
