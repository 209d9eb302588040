#include "tensor/isa.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>

#include "tensor/error.h"
#include "tensor/utf8.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tensor/isa.cc"
#include <hwy/foreach_target.h>
// Must come after foreach_target.h.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {

std::int64_t running_target() { return HWY_TARGET; }

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace opbench {
namespace {

HWY_EXPORT(running_target);

std::string lower_name(std::int64_t target) { return in_lower_case(hwy::TargetName(target)); }

// Asked once: Highway's own list selects the best of them each time it is made.
const std::vector<std::int64_t>& supported_targets() {
  static const std::vector<std::int64_t> targets = hwy::SupportedAndGeneratedTargets();
  return targets;
}

constexpr const char* kLimit = "OPBENCH_MAX_ISA";

// Better targets have lower bits. Before main, because whatever runs first takes the best there is.
bool is_limited() {
  const char* limit = std::getenv(kLimit);
  if (limit == nullptr) return true;
  const std::vector<std::int64_t> targets = hwy::SupportedAndGeneratedTargets();
  const auto found = std::find_if(targets.begin(), targets.end(),
                                  [&](std::int64_t target) { return lower_name(target) == limit; });
  if (found == targets.end()) return false;
  hwy::DisableTargets(*found - 1);
  supported_targets();
  hwy::GetChosenTarget().Update(*found);  // listing them has selected the best again
  return true;
}

const bool is_limit_known = is_limited();

}  // namespace

std::vector<std::string> supported_isas() {
  std::vector<std::string> names;
  for (const std::int64_t target : supported_targets()) {
    names.push_back(lower_name(target));
  }
  return names;
}

// Asks the dispatcher itself, so that the answer is what vector code really runs with.
std::string current_isa() { return lower_name(HWY_DYNAMIC_DISPATCH(running_target)()); }

void check_isa_limit() {
  if (is_limit_known) return;
  throw Error(fmt::format("{}: '{}' is no instruction set of this machine and build; allowed: {}",
                          kLimit, std::getenv(kLimit), fmt::join(supported_isas(), ", ")));
}

void select_isa(std::string_view isa) {
  for (const std::int64_t target : supported_targets()) {
    if (lower_name(target) != isa) continue;
    hwy::GetChosenTarget().Update(target);
    return;
  }
  throw Error(fmt::format("'{}' is no instruction set of this machine and build{}; allowed: {}",
                          isa, isa.starts_with("avx512") ? " (AVX-512 is called avx3)" : "",
                          fmt::join(supported_isas(), ", ")));
}

}  // namespace opbench

#endif  // HWY_ONCE
