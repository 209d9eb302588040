#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <utility>

#include "cli/command.h"
#include "cli/named_files.h"
#include "cli/run_outputs.h"
#include "cli/unit_run.h"
#include "tensor/error.h"
#include "text/packed.h"
#include "workers/interrupt.h"
#include "workers/ranks.h"

namespace opbench {
namespace {

GivenFlags flags_of_one_process(const RunFlags& flags) {
  return {{"--load", !flags.load.empty()},
          {"--dump", !flags.dump.empty()},
          {"--acl-json", !flags.acl_json.empty()},
          {"--tensors", flags.tensors},
          {"--check-overflow", flags.check_overflow}};
}

}  // namespace

UnitWork unit_work(const Ranks& ranks, const units::PartHeader& header, RunsUnit run) {
  // Rank 0 receives a rank's messages in order, so the header arrives before all units.
  const auto is_first = std::make_shared<bool>(true);
  return [rank = ranks.rank(), header, run = std::move(run), is_first](std::string_view unit) {
    const auto result = run(Unpacker(unit).get<std::size_t>());
    if (!result) return std::string();
    const bool is_begun = !std::exchange(*is_first, false);
    return pack_all(rank, is_begun ? std::string() : units::header_line(header),
                    units::unit_line(*result));
  };
}

void RankedUnits::run(const std::vector<std::size_t>& todo, const UnitWork& work) {
  UnitQueue queue;
  for (const std::size_t unit : todo) queue.add(pack_all(unit), plan_.costs[unit].seconds);
  DispatchHooks hooks;
  hooks.done = [&](std::size_t number, std::string answer) {
    if (answer.empty()) return;
    take(answer);
    progress_.end_unit(todo.at(number), 0);
  };
  hooks.progress = [&](const DispatchState& state) {
    if (state.done > 0) progress_.show(state, todo.at(state.slowest_unit));
  };
  hooks.stop = [] { return interrupted(); };
  dispatch(ranks_, plan_.digest, queue, work, hooks);
}

void RankedUnits::take(const std::string& answer) {
  int rank = 0;
  std::string header_line, line;
  Unpacker(answer).fields(rank, header_line, line);
  if (folder_ == nullptr) {
    texts_[rank] += header_line + line;
    return;
  }
  if (!header_line.empty()) {
    std::istringstream in(header_line);
    units::PartReader reader;
    reader.header = [&](const units::PartHeader& header, std::size_t) {
      files_[rank] = std::make_unique<units::PartFile>(folder_->rank_file(rank), header);
    };
    read_part(in, ranks_.describe(rank), reader);
  }
  files_.at(rank)->append(line);
}

units::CollectedUnits RankedUnits::collected() const {
  units::CollectedUnits collected;
  if (folder_ != nullptr) {
    for (const std::string& file : folder_->part_files()) collected.add_file(file);
  }
  for (const auto& [rank, text] : texts_) {
    std::istringstream in(text);
    collected.add(in, ranks_.describe(rank));
  }
  return collected;
}

bool runs_in_units(const RunFlags& flags, const Ranks& ranks) {
  return !ranks.is_alone() || !flags.units_dir().empty() || !part_of(flags).is_whole() ||
         flags.unit_timeout;
}

bool has_own_kernels(std::span<const WorkUnit> units) {
  const auto is_own = [](const Kernel* kernel) { return kernel->provider == Provider::own; };
  for (const WorkUnit& unit : units) {
    for (std::size_t i = 0; i < unit.size(); ++i) {
      const SelectedKernels& selection = unit.selection(i);
      if (!selection.refusal.empty()) continue;
      if (std::any_of(selection.kernels.begin(), selection.kernels.end(), is_own)) return true;
    }
  }
  return false;
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
  if (is_part && flags.units_dir().empty() && !flags.dry_run) {
    throw Error("--part needs --out DIR or --resume DIR, where the results of the part go");
  }
  if (flags.exclusive && flags.not_exclusive) {
    throw Error("--exclusive and --no-exclusive are both given; give one of them");
  }
  if (is_part && !ranks.is_alone()) {
    throw Error("--part does not go with several ranks, which divide the whole run themselves");
  }
  if (flag == nullptr) return;
  refuse_given(flags_of_one_process(flags), fmt::format("does not go with {}", flag));
  if (!is_part) return;
  for (const NamedFile& file : named_results(flags)) {
    if (file.path.empty()) continue;
    throw Error(
        fmt::format("{} does not go with --part: opbench merge joins the parts, and opbench "
                    "report writes other forms",
                    file.flag));
  }
}

}  // namespace opbench
