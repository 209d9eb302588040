#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "harness/check/protocol.h"
#include "harness/check/sampler.h"
#include "harness/run/open_item.h"

namespace opbench::check {

/// Calls to add, as a share, by variant: "softplus_v2=10,native=5" adds 10% and 5%. For tests of
/// the check only. Errors: throws Error if it cannot be read.
std::map<std::string, double, std::less<>> parse_slowdown(std::string_view text);

/// One case or context in a worker: allocated, filled, its variants (or steps) verified and ready
/// to be timed.
class OpenCase {
 public:
  /// Errors: throws Error if this build does not take the case, RunError if it does not fit. What
  /// one variant does wrong is in its reply.
  OpenCase(const OpenRequest& request, std::string_view slowdown);

  const OpenReply& reply() const { return reply_; }

  /// Microseconds of one call; of a step of one of its samples. Errors: throws Error if the variant
  /// is none that can be timed.
  double sample_us(std::string_view variant);

 private:
  /// A variant that can be timed.
  struct Ready {
    std::size_t place;  ///< among the item's runnables
    std::unique_ptr<CallWatch> watch = nullptr;
    std::optional<ShortSampler> sampler = std::nullopt;
  };

  void prepare(std::size_t i, bool verifies);
  void verify(std::size_t i, OpenedVariant& opened);
  ShortSampler make_sampler(std::size_t i, CallWatch* watch) const;

  bool is_cold_, is_verified_;
  double sample_seconds_;
  std::map<std::string, double, std::less<>> slowdown_;
  PhaseTimes times_;
  OpenItem open_;
  std::map<std::string, Ready, std::less<>> ready_;
  OpenReply reply_;
};

}  // namespace opbench::check
