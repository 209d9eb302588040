#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "judge/judge_output.h"
#include "tensor/buffer.h"
#include "tensor/dtype.h"

namespace opbench {

/// True if an input `value` of a floating `dtype` is in the range that the variant guarantees.
bool is_inside(InputRange range, DType dtype, double value);

/// The elements of an output that depend on inputs outside of the variant's contract. For an
/// elementwise operator these are the elements at the same places. For others these are the
/// elements that change if such inputs become very large or very small.
class OutsideContract {
 public:
  /// Examines the floating inputs; copies them if some are outside. `with_limit`: inputs within the
  /// kernel's known limit are outside, too. `call`, which has a kernel, must outlive this object.
  OutsideContract(const CallToJudge& call, std::size_t output, bool with_limit = false);
  // References can point to the readers.
  OutsideContract(const OutsideContract&) = delete;
  OutsideContract& operator=(const OutsideContract&) = delete;

  /// True if there are inputs outside of the variant's contract.
  bool is_any() const { return is_any_; }
  /// Replaces such elements of `range` in `actual` by those in `expected`. Both are dense in memory
  /// and have the output's dtype.
  void forgive(ElementRange range, const void* expected, void* actual) const;

 private:
  std::vector<bool> places(ElementRange range) const;
  bool is_outside(std::size_t input, double value) const;

  const CallToJudge& call_;
  std::size_t output_;
  bool with_limit_;
  bool is_any_ = false;
  std::vector<Buffer> buffers_;
  /// The inputs unchanged, with very large values, and with very small values.
  std::array<std::vector<InputReader>, 3> inputs_;
  std::vector<Reference> references_;  ///< of these
};

}  // namespace opbench
