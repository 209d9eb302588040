#pragma once

#include <cstdint>
#include <vector>

#include "harness/run/unit_variant.h"
#include "harness/run/workspace.h"

namespace opbench {

/// Gives all inputs of a variant other values of the same kind, as often as wanted, at about the
/// price of a copy: what is stored densely is rotated by a random number of elements, so that every
/// element changes and no row keeps its neighbours; what has padding is filled anew. Inputs whose
/// values a case states in order (arange, special ...) stay, and recorded ones that have padding.
class InputRefill {
 public:
  /// The values of `seed` are loaded. Both must outlive it.
  InputRefill(const UnitVariant& variant, const Workspace& workspace, std::uint64_t seed);

  /// Puts the values of a generation in place; 0: those that were loaded. Then touches all tensors,
  /// each thread its share, so that caches hold them as after a call that read and wrote them.
  void put(std::uint64_t generation);

 private:
  struct Input {
    std::size_t tensor = 0;
    bool is_dense = false;
    std::int64_t shift = 0;  ///< elements by which it is rotated to the left now
  };

  std::uint64_t mixed(std::size_t tensor, std::uint64_t generation) const;
  void rotate(Input& input, std::int64_t shift) const;
  void touch() const;

  const UnitVariant& variant_;
  const Workspace& workspace_;
  std::uint64_t seed_;
  std::uint64_t generation_ = 0;
  std::vector<Input> inputs_;
};

/// Other values may stand in any place of this tensor.
bool is_free(const GraphTensor& tensor);

/// Mixes corner values into the inputs of a case, which are loaded with `seed`: those that its
/// kernels take, and none so large that it would drown the others where the graph adds elements up.
/// Raises the seed of a backward pass from a mean to the number of elements, so that gradients are
/// of the order of 1. May be called again for another variant.
void add_corner_values(const Workspace& workspace, const UnitVariant& variant, std::uint64_t seed);

/// Undoes `add_corner_values`.
void remove_corner_values(const Workspace& workspace, const UnitVariant& variant,
                          std::uint64_t seed);

}  // namespace opbench
