#pragma once

#include <cstdint>
#include <vector>

#include "harness/run/unit_variant.h"
#include "harness/run/workspace.h"

namespace opbench {

/// Replaces all inputs of a variant by other values of the same kind, at about the cost of a copy.
/// Dense inputs are rotated by a random number of elements, so that every element changes and no
/// row keeps its neighbours. Padded inputs are filled again. Inputs whose values have a given order
/// (arange, special ...) are kept, and so are padded recorded inputs.
class InputRefill {
 public:
  /// The values of `seed` must be loaded. Both references must outlive this object.
  InputRefill(const UnitVariant& variant, const Workspace& workspace, std::uint64_t seed);

  /// Puts the values of a generation in place; 0: the loaded values. Then touches all tensors, each
  /// thread its share, so that the caches are in the state after a call that read and wrote them.
  void put(std::uint64_t generation);

 private:
  struct Input {
    std::size_t tensor = 0;
    bool is_dense = false;
    std::int64_t shift = 0;  ///< elements of its present rotation to the left
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

/// True if any value may be at any place of this tensor.
bool is_free(const GraphTensor& tensor);

/// Mixes corner values into the inputs of a case, which must be loaded with `seed`. It uses the
/// corner values that the variant's kernels take. If the graph sums elements, large corner values
/// are left out, because they would dominate the sum. It sets the seed of a backward pass from a
/// mean to the number of elements, so that gradients are of the order of 1. It may be called again
/// for another variant.
void add_corner_values(const Workspace& workspace, const UnitVariant& variant, std::uint64_t seed);

/// Undoes `add_corner_values`.
void remove_corner_values(const Workspace& workspace, const UnitVariant& variant,
                          std::uint64_t seed);

}  // namespace opbench
