#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "ops/integers.h"
#include "ops/op.h"

namespace opbench {

/// The result where rows of a source meet a row of self.
enum class Reduce { update, add, prod, mean, amax, amin };

/// A rule for attributes: empty for the name of a Reduce, else the names.
std::string no_reduce(const AttrValue& value);

/// Two of the elements that meet; for a mean their sum. T is floating, or int64, which wraps.
template <class T>
T combined(Reduce reduce, T a, T b) {
  constexpr bool kIsWhole = std::is_integral_v<T>;
  switch (reduce) {
    case Reduce::update:
      return b;
    case Reduce::prod:
      if constexpr (kIsWhole) return integer_product(a, b);
      return a * b;
    case Reduce::amax:
      return a != a || a > b ? a : b;
    case Reduce::amin:
      return a != a || a < b ? a : b;
    default:
      if constexpr (kIsWhole) return integer_sum(a, b);
      return a + b;
  }
}

template <class T>
T mean_of(T sum, std::int64_t count) {
  if constexpr (std::is_integral_v<T>) return floored_quotient(sum, count);
  return sum / T(count);
}

/// The rows of a source that scatter, index_put and scatter_nd_update combine with rows of self:
/// row i of `rows`, each of `length` elements.
class ScatterPlan {
 public:
  /// Errors: throws Error that names the operator if the shapes do not fit.
  ScatterPlan(const Op& op, std::span<const TensorDesc> inputs, const Attrs& attrs);

  Reduce reduce = Reduce::update;
  bool includes_self = true;  ///< the row of self is one of those that meet
  std::int64_t rows = 0, length = 1;
  std::size_t source;  ///< the input with the rows

  /// Room for all values of the indices, and their values.
  std::vector<std::vector<std::int64_t>> room() const;
  void read(std::span<const InputReader> inputs,
            std::vector<std::vector<std::int64_t>>& indices) const;
  /// Errors: throws Error for a value outside its axis, and for rows that differ and replace one
  /// row: devices keep any of them.
  void check(std::span<const InputReader> inputs) const;

  /// The first elements of row i in self and in the source.
  std::pair<std::int64_t, std::int64_t> places(
      const std::vector<std::vector<std::int64_t>>& indices, std::int64_t i) const {
    return kind_ == Kind::elements ? element_places(indices[0], i) : row_places(indices, i);
  }

 private:
  enum class Kind { elements, axes, coordinates };

  void refuse_duplicates(std::span<const InputReader> inputs,
                         const std::vector<std::vector<std::int64_t>>& indices) const;
  void plan_elements(const Dims& self, const Dims& index, const Dims& source_shape,
                     const Attrs& attrs);
  void plan_axes(std::span<const TensorDesc> inputs, const Attrs& attrs);
  void plan_coordinates(const Dims& self, const Dims& index, const Dims& updates);
  std::pair<std::int64_t, std::int64_t> element_places(const std::vector<std::int64_t>& index,
                                                       std::int64_t i) const;
  std::pair<std::int64_t, std::int64_t> row_places(
      const std::vector<std::vector<std::int64_t>>& indices, std::int64_t i) const;

  const Op* op_;
  Kind kind_;
  std::size_t first_index_;
  std::vector<Dims> index_shapes_;
  Dims index_;                         // the extents of all indices together
  std::vector<std::int64_t> extents_;  // allowed values: of each index, or of each coordinate
  std::size_t dim_ = 0;
  Dims index_strides_, self_strides_, source_strides_;
};

}  // namespace opbench
