#include "compare/job_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <system_error>

#include "tensor/error.h"

namespace opbench {
namespace {

namespace fs = std::filesystem;

// The number after the word in "rank3", "rank_3", "rank-3"; empty for other names.
std::optional<std::int64_t> number_after(std::string_view word, std::string_view name) {
  constexpr std::size_t kMostDigits = 9;
  if (!name.starts_with(word)) return std::nullopt;
  name.remove_prefix(word.size());
  if (name.starts_with('_') || name.starts_with('-')) name.remove_prefix(1);
  std::int64_t number = 0;
  const char* const end = name.data() + name.size();
  const auto [stopped, error] = std::from_chars(name.data(), end, number);
  const bool is_number = error == std::errc() && stopped == end && name.size() <= kMostDigits;
  return is_number && number >= 0 ? std::optional(number) : std::nullopt;
}

bool is_dump_file(const fs::path& path) {
  std::error_code ignored;
  return (path.extension() == ".h5" || path.extension() == ".hdf5") &&
         fs::is_regular_file(path, ignored);
}

/// The entries of a folder that are ranks or steps.
struct Numbered {
  std::int64_t number = 0;
  fs::path path;
  bool is_folder = false;
};

std::vector<Numbered> numbered_in(const fs::path& folder, std::string_view word) {
  std::vector<Numbered> found;
  std::error_code error;
  for (fs::directory_iterator at(folder, error); !error && at != fs::directory_iterator();
       at.increment(error)) {
    std::error_code ignored;
    const bool is_folder = fs::is_directory(at->path(), ignored);
    if (!is_folder && !is_dump_file(at->path())) continue;
    const fs::path name = is_folder ? at->path().filename() : at->path().stem();
    if (const auto number = number_after(word, name.string())) {
      found.push_back({*number, at->path(), is_folder});
    }
  }
  if (error) throw Error(fmt::format("cannot open {}: {}", folder.string(), error.message()));
  return found;
}

void sort_by_place(std::vector<JobDump>& dumps) {
  std::sort(dumps.begin(), dumps.end(), [](const JobDump& a, const JobDump& b) {
    return std::tie(a.place, a.path) < std::tie(b.place, b.path);
  });
}

void check_places(const std::vector<JobDump>& dumps, const fs::path& folder) {
  for (std::size_t i = 1; i < dumps.size(); ++i) {
    if (dumps[i].place != dumps[i - 1].place) continue;
    throw Error(fmt::format("{}: two dumps are of {}: {} and {}", folder.string(),
                            to_string(dumps[i].place), dumps[i - 1].path.string(),
                            dumps[i].path.string()));
  }
}

}  // namespace

std::string to_string(const JobPlace& place) {
  if (place.rank == kAllRanks)
    return place.step ? fmt::format("step {}", *place.step) : "all ranks";
  return place.step ? fmt::format("step {}, rank {}", *place.step, place.rank)
                    : fmt::format("rank {}", place.rank);
}

std::string folder_of(const JobPlace& place) {
  if (place.rank == kAllRanks) return place.step ? fmt::format("step{}", *place.step) : "joined";
  return place.step ? fmt::format("step{}/rank{}", *place.step, place.rank)
                    : fmt::format("rank{}", place.rank);
}

std::vector<JobDump> list_steps(const fs::path& path) {
  std::vector<JobDump> dumps;
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    for (const Numbered& step : numbered_in(path, "step")) {
      dumps.push_back({{step.number, kAllRanks}, step.path});
    }
  }
  if (dumps.empty()) dumps.push_back({{std::nullopt, kAllRanks}, path});
  sort_by_place(dumps);
  check_places(dumps, path);
  return dumps;
}

std::vector<JobDump> list_job(const fs::path& folder) {
  std::vector<JobDump> dumps;
  for (const Numbered& rank : numbered_in(folder, "rank")) {
    const auto steps = rank.is_folder ? numbered_in(rank.path, "step") : std::vector<Numbered>();
    for (const Numbered& step : steps) dumps.push_back({{step.number, rank.number}, step.path});
    if (steps.empty()) dumps.push_back({{std::nullopt, rank.number}, rank.path});
  }
  for (const Numbered& step : numbered_in(folder, "step")) {
    if (!step.is_folder) continue;
    for (const Numbered& rank : numbered_in(step.path, "rank")) {
      dumps.push_back({{step.number, rank.number}, rank.path});
    }
  }
  sort_by_place(dumps);
  check_places(dumps, folder);
  return dumps;
}

JobPairs pair_jobs(const std::vector<JobDump>& actual, const std::vector<JobDump>& expected) {
  JobPairs pairs;
  auto a = actual.begin();
  auto e = expected.begin();
  while (a != actual.end() || e != expected.end()) {
    if (e == expected.end() || (a != actual.end() && a->place < e->place)) {
      pairs.only_actual.push_back((a++)->place);
    } else if (a == actual.end() || e->place < a->place) {
      pairs.only_expected.push_back((e++)->place);
    } else {
      pairs.pairs.push_back({a->place, a->path, e->path});
      ++a, ++e;
    }
  }
  return pairs;
}

}  // namespace opbench
