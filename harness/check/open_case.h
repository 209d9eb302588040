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

/// One open case or context in a worker: allocated and filled. Its variants or steps are verified
/// and ready to be timed.
class OpenCase {
 public:
  /// Errors: throws Error if this build does not take the case, RunError if it does not fit. Errors
  /// of a single variant are in its reply.
  explicit OpenCase(const OpenRequest& request);

  const OpenReply& reply() const { return reply_; }

  /// Takes a sample: microseconds of one call, for a step of one of its samples. Before it, tensors
  /// are moved to the places of `layout` (memory_plan.h) if this is fast; 0: not moved. After it,
  /// further calls on the same values must give the bits of the last timed call, unless the
  /// kernel's summation order depends on the threads. The answer has the results on the verified
  /// values. For first calls, the sample is the first call with its preparation, and a second
  /// sample is not taken.
  /// Errors: throws Error if the variant cannot be timed.
  Sampled sample(std::string_view variant, std::uint64_t layout = 0);

  /// Kernels that a call of the variant runs.
  /// Errors: throws Error if the variant cannot be timed.
  std::span<const Kernel* const> kernels(std::string_view variant);
  /// Hash of the order of the kernels, of their tensors, and of the relative placement of these.
  /// Errors: as `kernels`.
  std::string plan_hash(std::string_view variant);

 private:
  /// A variant that can be timed.
  struct Ready {
    std::size_t place;  ///< index in the unit's variants
    std::unique_ptr<CallWatch> watch = nullptr;
    std::optional<ShortSampler> sampler = std::nullopt;
    std::string wrong = {};  ///< error in the results of the last sample
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
  bool is_movable_ = false;  ///< between samples
  double sample_seconds_;
  PhaseTimes times_;
  OpenUnit open_;
  std::map<std::string, Ready, std::less<>> ready_;
  OpenReply reply_;
};

}  // namespace opbench::check
