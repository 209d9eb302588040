#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "harness/check/protocol.h"
#include "harness/check/sampler.h"
#include "harness/plan/plan.h"
#include "harness/plan/selection.h"
#include "harness/run/workspace.h"

namespace opbench::check {

/// Calls to add, as a share, by variant: "softplus_v2=10,native=5" adds 10% and 5%. For tests of
/// the check only. Errors: throws Error if it cannot be read.
std::map<std::string, double, std::less<>> parse_slowdown(std::string_view text);

/// One case in a worker: allocated, filled, its variants verified and ready to be timed.
class OpenCase {
 public:
  /// Errors: throws Error if this build does not take the case, RunError if it does not fit. What
  /// one variant does wrong is in its reply.
  OpenCase(const OpenRequest& request, std::string_view slowdown);

  const OpenReply& reply() const { return reply_; }

  /// Microseconds of one call. Errors: throws Error if the variant is none that can be timed.
  double sample_us(std::string_view variant);

 private:
  struct Variant {
    const Selection* selection;
    std::unique_ptr<BoundGraph> bound;
    std::optional<ShortSampler> sampler;
  };

  void prepare_variants(const OpenRequest& request);
  void verify_variant(const Variant& variant, OpenedVariant& opened);
  std::string result_bits() const;
  ShortSampler make_sampler(const Variant& variant, std::string_view name) const;

  std::unique_ptr<PlannedCase> planned_;
  int threads_;
  bool is_cold_;
  double sample_seconds_;
  std::map<std::string, double, std::less<>> slowdown_;
  std::vector<Distribution> data_;
  std::optional<Workspace> workspace_;
  std::map<std::string, Variant, std::less<>> variants_;
  OpenReply reply_;
};

}  // namespace opbench::check
