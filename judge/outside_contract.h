#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "judge/judge_output.h"
#include "tensor/buffer.h"
#include "tensor/dtype.h"

namespace opbench {

/// True if a variant that takes `range` answers for an input `value` of a floating `dtype`.
bool is_inside(InputRange range, DType dtype, double value);

/// The elements of an output that follow from inputs that a variant does not answer for: those at
/// the same place, where the operator is of elements, and those that are others where these inputs
/// are very large or very small instead.
class OutsideContract {
 public:
  /// Looks at the floating inputs; copies them where some are outside. `with_limit`: those of the
  /// kernel's known limit are outside, too. `call`, which has a kernel, outlives it.
  OutsideContract(const CallToJudge& call, std::size_t output, bool with_limit = false);
  // References may point to the readers.
  OutsideContract(const OutsideContract&) = delete;
  OutsideContract& operator=(const OutsideContract&) = delete;

  /// True if there are inputs that the variant does not answer for.
  bool is_any() const { return is_any_; }
  /// Makes such elements of `range` in `actual` those in `expected`. Both lie densely in memory and
  /// are of the output's dtype.
  void forgive(ElementRange range, const void* expected, void* actual) const;

 private:
  std::vector<bool> places(ElementRange range) const;
  bool is_outside(std::size_t input, double value) const;

  const CallToJudge& call_;
  std::size_t output_;
  bool with_limit_;
  bool is_any_ = false;
  std::vector<Buffer> buffers_;
  /// The inputs as they are, and with very large and very small ones.
  std::array<std::vector<InputReader>, 3> inputs_;
  std::vector<Reference> references_;  ///< of these
};

}  // namespace opbench
