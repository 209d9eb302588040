#include "cli/unit_flags.h"

#include <fmt/format.h>

#include <utility>

#include "cli/named_files.h"
#include "cli/run_outputs.h"
#include "tensor/error.h"

namespace opbench {

bool runs_in_units(const RunFlags& flags, const Ranks& ranks) {
  return !ranks.is_alone() || !flags.units_dir().empty() || !part_of(flags).is_whole() ||
         flags.unit_timeout;
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
  const std::pair<const char*, bool> others[] = {{"--load", !flags.load.empty()},
                                                 {"--dump", !flags.dump.empty()},
                                                 {"--acl-json", !flags.acl_json.empty()},
                                                 {"--tensors", flags.tensors},
                                                 {"--check-overflow", flags.check_overflow}};
  for (const auto& [other, is_given] : others) {
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
