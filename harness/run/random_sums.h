#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "harness/run/bound_graph.h"
#include "harness/run/item.h"

namespace opbench {

/// What an element of a tensor that is a sum comes to where its terms do not cancel, by tensor:
/// noted while a step's nodes run, for the tensors that become its results.
class RandomSums {
 public:
  explicit RandomSums(const Runnable& runnable);

  /// After `node` has run and while its inputs are still there.
  void add(const Node& node, const TensorStorage& storage);

  const std::map<std::size_t, double>& values() const { return sums_; }

 private:
  std::vector<bool> leads_;  // to a result, by tensor
  std::map<std::size_t, double> sums_;
};

}  // namespace opbench
