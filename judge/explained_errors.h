#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "judge/judge_output.h"
#include "ops/intermediates.h"
#include "tensor/buffer.h"
#include "tensor/dtype.h"

namespace opbench {

/// Which differences from the golden values the intermediate results of an operator explain: at
/// most four unit roundoffs of them, and Inf or NaN where one of them leaves the dtype.
class RoundingSlack {
 public:
  /// `golden`: the values that are expected, not rounded. Roundoff and range are those of `dtype`,
  /// or of the narrower one that `operands` are rounded to first.
  RoundingSlack(Reference golden, Intermediates intermediates, DType dtype,
                std::optional<DType> operands = {});

  /// True if the operator tells of any.
  bool is_any() const;
  /// What the differences are held to, as a multiple of the intermediates' rounding.
  double factor() const;
  /// Makes elements `range` of output `output` in `actual` those in `expected`, which are the
  /// golden ones, where the difference is explained. Both lie densely in memory and are of `dtype`.
  void forgive(std::size_t output, ElementRange range, DType dtype, const void* expected,
               void* actual) const;

 private:
  bool explains(double actual, double golden, double rounding, double greatest) const;

  Reference golden_;
  Intermediates intermediates_;
  double roundoff_, largest_held_, largest_;  ///< the greatest intermediate result and output
};

/// True if a variant that takes `range` answers for an input `value` of a floating `dtype`.
bool is_inside(InputRange range, DType dtype, double value);

/// The elements of an output that follow from inputs that a variant does not answer for: those at
/// the same place, where the operator is of elements, and those that are others where these inputs
/// are very large or very small instead.
class OutsideContract {
 public:
  /// Looks at the floating inputs; copies them where some are outside. `with_limit`: those of the
  /// kernel's known limit are outside, too. `what` outlives it.
  OutsideContract(const CallToJudge& what, std::size_t output, bool with_limit = false);
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

  const CallToJudge& what_;
  std::size_t output_;
  bool with_limit_;
  bool is_any_ = false;
  std::vector<Buffer> buffers_;
  /// The inputs as they are, and with very large and very small ones.
  std::array<std::vector<InputReader>, 3> inputs_;
  std::vector<Reference> references_;  ///< of these
};

/// How much an output changes, per relative change of the inputs: the scale (see Magnitudes) of
/// what the reference gives for inputs each of which is larger or smaller by 2^-5 at random, less
/// what it gives for the inputs, times 2^5. Of a sum it is what its terms come to with random
/// signs, and so what rounding is relative to where terms cancel. Taken over a few blocks of the
/// output; the inputs are copied for it.
double condition_scale(const CallToJudge& what, std::size_t output);

}  // namespace opbench
