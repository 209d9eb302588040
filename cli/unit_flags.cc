#include "cli/unit_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "cli/named_files.h"
#include "cli/run_outputs.h"
#include "tensor/error.h"

namespace opbench {
namespace {

std::array<std::pair<const char*, bool>, 5> flags_of_one_process(const RunFlags& flags) {
  return {{{"--load", !flags.load.empty()},
           {"--dump", !flags.dump.empty()},
           {"--acl-json", !flags.acl_json.empty()},
           {"--tensors", flags.tensors},
           {"--check-overflow", flags.check_overflow}}};
}

}  // namespace

bool runs_in_units(const RunFlags& flags, const Ranks& ranks) {
  return !ranks.is_alone() || !flags.units_dir().empty() || !part_of(flags).is_whole() ||
         flags.unit_timeout;
}

bool has_own_kernels(const std::vector<PlannedCase>& cases,
                     const std::vector<PlannedContext>& contexts) {
  const auto is_own = [](const Kernel* kernel) { return kernel->provider == Provider::own; };
  const auto has_one = [&](const Selection& selection) {
    return selection.refusal.empty() &&
           std::any_of(selection.kernels.begin(), selection.kernels.end(), is_own);
  };
  return std::any_of(cases.begin(), cases.end(),
                     [&](const PlannedCase& c) {
                       return std::any_of(c.variants.begin(), c.variants.end(), has_one);
                     }) ||
         std::any_of(contexts.begin(), contexts.end(), [&](const PlannedContext& c) {
           return std::any_of(c.steps.begin(), c.steps.end(),
                              [&](const PlannedStep& step) { return has_one(step.selection); });
         });
}

bool needs_one_process(const RunFlags& flags) {
  const auto others = flags_of_one_process(flags);
  return std::any_of(others.begin(), others.end(), [](const auto& other) { return other.second; });
}

bool takes_turns(const RunFlags& flags, const RunOptions& options, const Ranks& ranks) {
  const bool has_others = !part_of(flags).is_whole() || !ranks.is_alone();
  return has_others && !flags.not_exclusive && options.times;
}

void require_takeable_by_units(const RunFlags& flags, const Ranks& ranks) {
  const bool is_part = !part_of(flags).is_whole();
  const char* flag = is_part                 ? "--part"
                     : !flags.resume.empty() ? "--resume"
                     : flags.unit_timeout    ? "--unit-timeout"
                     : !ranks.is_alone()     ? "several ranks"
                                             : nullptr;
  if (!flags.resume.empty() && !flags.out_dir.empty()) {
    throw Error("--out and --resume name the same folder; give one of them");
  }
  if (is_part && flags.units_dir().empty()) {
    throw Error("--part needs --out DIR or --resume DIR, where the results of the part go");
  }
  if (flags.exclusive && flags.not_exclusive) {
    throw Error("--exclusive and --no-exclusive are both given; give one of them");
  }
  if (is_part && !ranks.is_alone()) {
    throw Error("--part does not go with several ranks, which share out the whole themselves");
  }
  if (flag == nullptr) return;
  for (const auto& [other, is_given] : flags_of_one_process(flags)) {
    if (is_given) throw Error(fmt::format("{} does not go with {}", other, flag));
  }
  if (!is_part) return;
  for (const NamedFile& file : named_results(flags)) {
    if (file.path.empty()) continue;
    throw Error(
        fmt::format("{} does not go with --part: opbench merge joins the parts, and opbench "
                    "report makes other forms of it",
                    file.flag));
  }
}

}  // namespace opbench
