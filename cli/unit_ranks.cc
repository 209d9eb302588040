#include "cli/unit_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <utility>

#include "tensor/error.h"
#include "workers/interrupt.h"
#include "workers/ranks.h"

namespace opbench {

UnitWork unit_work(const Ranks& ranks, const units::PartHeader& header, RunsUnit run) {
  // Rank 0 gets what a rank sends in its order, so that the header is there before all units.
  const auto is_first = std::make_shared<bool>(true);
  return [rank = ranks.rank(), header, run = std::move(run), is_first](std::string_view unit) {
    const auto result = run(std::stoul(std::string(unit)));
    if (!result) return std::string();
    std::string answer = fmt::format("{}\n", rank);
    if (std::exchange(*is_first, false)) answer += units::header_line(header);
    return answer + units::unit_line(*result);
  };
}

void RankedUnits::run(const std::vector<std::size_t>& todo, const UnitWork& work) {
  UnitQueue queue;
  for (const std::size_t unit : todo) queue.add(std::to_string(unit), plan_.units[unit].seconds);
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
  const std::size_t end = answer.find('\n') + 1;
  const int rank = std::stoi(answer);
  const std::string lines = answer.substr(end);
  if (folder_ == nullptr) {
    texts_[rank] += lines;
    return;
  }
  // The header alone, and then the unit; or the unit.
  const std::size_t split = lines.find('\n') + 1;
  if (split == lines.size()) return files_.at(rank)->append(lines);
  std::istringstream header_line(lines.substr(0, split));
  units::PartReader reader;
  reader.header = [&](const units::PartHeader& header, std::size_t) {
    files_[rank] = std::make_unique<units::PartFile>(folder_->rank_file(rank), header);
  };
  read_part(header_line, ranks_.describe(rank), reader);
  files_.at(rank)->append(lines.substr(split));
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

}  // namespace opbench
