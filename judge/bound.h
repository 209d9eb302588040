#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "judge/claims.h"
#include "judge/pair_stats.h"
#include "ops/terms.h"

namespace opbench {

/// The check of elements under one claim.
struct HeldElements {
  std::int64_t wrong = 0, nan = 0, inf = 0;  ///< the latter of them on one side only
  /// The element furthest beyond its allowed error; index -1: no element is wrong. NaN and Inf come
  /// before all others.
  WorstElement worst = {};
  double excess = 0;   ///< its error, in multiples of that
  double allowed = 0;  ///< the largest difference that is allowed

  void merge(const HeldElements& more);
};

/// The error bound of a rounded output: Wilkinson's running error bound, element by element. f is
/// the reference in fp64, T the sum of the magnitudes of the terms of the element (see terms_of), n
/// their number, and u the unit roundoffs of a claim:
///
///     |a - f| <= k (u_operand T + u_sum sqrt(n) T + u_store |f|) + k/2 steps
///
/// k = 4. n roundings with independent signs, of partial sums that never exceed T, have a standard
/// deviation below u sqrt(n) T / sqrt(3). Four bounds are seven standard deviations, which leaves
/// room for functions that are correct to two units. A step is the smallest number of fp16; of
/// other dtypes it is the smallest normal number, because devices flush smaller ones to 0, times
/// the greatest intermediate result: a flushed factor is multiplied by others.
///
/// A step of a quantiser is right if it is stored for a result whose difference from the exact one
/// is at most the first two summands.
///
/// A result beyond the output's dtype is Inf. An element may be Inf or NaN if an intermediate
/// result overflows in the dtype of the claim.
class ErrorBound {
 public:
  /// `problem` and the storage of `inputs` must outlive this object.
  ErrorBound(const Problem& problem, std::span<const InputReader> inputs, std::size_t output);

  const Reference& expected() const { return expected_; }
  double count() const { return count_; }  ///< of the terms of an element

  /// The bound of a claim: "|a-e| <= 2^-22*8*T + 2^-22*|e|".
  std::string formula(const Claim& claim) const;
  /// The share of the reference by which an element may differ, for any terms.
  double share_of_result(const Claim& claim) const;

  /// Checks elements `range` under each claim. `actual` and `expected` are in fp64; `expected` is
  /// not rounded. Several threads may call it at once.
  std::vector<HeldElements> hold(std::span<const Claim> claims, ElementRange range,
                                 std::span<const double> actual,
                                 std::span<const double> expected) const;

  /// Marks the elements that are wrong under one claim.
  std::vector<bool> wrong(const Claim& claim, ElementRange range, std::span<const double> actual,
                          std::span<const double> expected) const;

 private:
  struct TermValues {
    std::vector<double> magnitude, greatest = {}, unrounded = {};
    std::function<double(double)> stored = nullptr;
  };
  TermValues terms(ElementRange range, std::span<const double> actual) const;

  const Problem& problem_;
  std::vector<InputReader> inputs_;
  std::size_t output_;
  DType dtype_;
  bool is_quantised_;
  double count_;
  Reference expected_;
  // Computed on demand: most outputs are right without it.
  mutable std::once_flag once_;
  mutable Terms terms_;
};

/// The error that a claim allows in an element, per magnitude of its `count` terms.
double factor_of_terms(const Claim& claim, double count);

/// The error that the terms alone allow in an element, for elements whose terms cancel. It is the
/// root mean square over some elements, spread evenly over the output. The output itself is not
/// computed.
double allowed_of_terms(const Problem& problem, std::span<const InputReader> inputs,
                        std::size_t output, const Claim& claim);

/// The bound of a claim for a result of `dtype`, whose elements have `count` terms: "|a-e| <=
/// 2^-22*8*T + 2^-22*|e|".
std::string formula(const Claim& claim, DType dtype, double count);

/// The share of the reference by which an element may differ, for any terms.
double share_of_result(const Claim& claim, DType dtype, double count);

/// "3 of 100 elements exceed their error bound; worst at [0,3]: 5, expected 4, error bound 1e-06".
std::string beyond_text(const HeldElements& held, std::int64_t elements, const TensorDesc& desc);

}  // namespace opbench
