#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "harness/check/protocol.h"
#include "harness/check/sampler.h"
#include "harness/run/open_unit.h"

namespace opbench::check {

/// One case or context in a worker: allocated, filled, its variants (or steps) verified and ready
/// to be timed.
class OpenCase {
 public:
  /// Errors: throws Error if this build does not take the case, RunError if it does not fit. What
  /// one variant does wrong is in its reply.
  explicit OpenCase(const OpenRequest& request);

  const OpenReply& reply() const { return reply_; }

  /// Microseconds of one call; of a step of one of its samples. What the last timed call left must
  /// be what further calls leave on the same values, bit for bit, unless the kernel's sums go by
  /// thread; what one leaves on the values that are verified is in the answer. Before, tensors are
  /// moved to where `layout` puts them (memory_plan.h), where that takes next to no time; 0: they
  /// stay. Where first calls are wanted it is the first: its kernels are prepared in it, and there
  /// is no second. Errors: throws Error if the variant is none that can be timed.
  Sampled sample(std::string_view variant, std::uint64_t layout = 0);

  /// What a call of the variant runs. Errors: throws Error if the variant is none that can be
  /// timed.
  std::span<const Kernel* const> kernels(std::string_view variant);
  /// Hash of the order in which it runs them, on which tensors, and of where these lie to each
  /// other. Errors: as `kernels`.
  std::string plan_hash(std::string_view variant);

 private:
  /// A variant that can be timed.
  struct Ready {
    std::size_t place;  ///< among the unit's variants
    std::unique_ptr<CallWatch> watch = nullptr;
    std::optional<ShortSampler> sampler = std::nullopt;
    std::string wrong = {};  ///< with the results of the last sample
  };

  Ready& ready_of(std::string_view variant);
  Sampled first_call(Ready& ready);
  Sampled later_call(Ready& ready);
  void prepare(std::size_t i, bool verifies);
  void verify(std::size_t i, OpenedVariant& opened);
  ShortSampler make_sampler(Ready& ready) const;
  void judge_last_call(Ready& ready) const;
  std::string results_of(std::size_t i) const;
  std::string results_on_verified(std::size_t i);

  bool is_cold_, is_watched_;
  bool is_movable_ = false;  ///< from sample to sample
  double sample_seconds_;
  PhaseTimes times_;
  OpenUnit open_;
  std::map<std::string, Ready, std::less<>> ready_;
  OpenReply reply_;
};

}  // namespace opbench::check
