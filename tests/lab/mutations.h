#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "harness/run/kernel_run.h"

namespace opbench {

/// A correct kernel on given values, and the data that mutations need.
class HonestRun {
 public:
  /// Errors: any exception of the kernel.
  HonestRun(const Kernel& kernel, const Case& c, std::uint64_t seed);

  const Kernel& kernel() const { return kernel_; }
  const Problem& problem() const { return problem_; }
  const InputElements& inputs() const { return inputs_; }
  const std::vector<Elements>& results() const { return results_; }
  /// Results of the kernel for other inputs of the problem. `other_results` are for another seed.
  std::vector<Elements> results_of(const InputElements& inputs) const;
  /// Results for other attributes, written "a=1,b=2", or also for other shapes. If the kernel does
  /// not take these, the reference computes them.
  std::vector<Elements> results_with(std::string_view attrs) const;
  std::vector<Elements> results_of(std::vector<TensorDesc> descs, std::string_view attrs,
                                   const InputElements& inputs) const;
  const std::vector<Elements>& other_results() const { return others_; }

  std::vector<double> values(const TensorDesc& desc, const Elements& elements) const;
  Elements elements(const TensorDesc& desc, const std::vector<double>& values) const;

 private:
  const Kernel& kernel_;
  Problem problem_;
  InputElements inputs_;
  std::vector<Elements> results_, others_;
};

/// Results of a broken operator; empty if the mutation does not apply.
using BrokenResults = std::optional<std::vector<Elements>>;

/// A mutation of an operator.
struct Mutation {
  std::string_view name;
  std::string_view summary;
  BrokenResults (*break_it)(const HonestRun& run);
  std::array<std::string_view, 5> ops = {};  ///< the only operators with it; empty: any

  bool is_of(std::string_view op) const {
    return ops[0].empty() || std::find(ops.begin(), ops.end(), op) != ops.end();
  }
};

/// Mutations of the inputs or outputs of any operator, then mutations of one operator's formula.
std::vector<const Mutation*> all_mutations();
std::span<const Mutation> result_mutations();
std::span<const Mutation> input_mutations();
std::span<const Mutation> formula_mutations();
std::span<const Mutation> attention_mutations();
std::span<const Mutation> language_mutations();
std::span<const Mutation> vision_mutations();

}  // namespace opbench
