#include "dump/dump_selection.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "tensor/error.h"

namespace opbench {
namespace {

std::string record_path(const DumpRecord& record) {
  return fmt::format("/{}/{}", record.op, record.seq_text);
}

template <class Visit>
void for_each_path(const DumpListing& dump, Visit visit) {
  for (const DumpRecord& record : dump.records) {
    visit(record_path(record));
    for (const DumpEntry& entry : record.entries) visit(entry.path);
  }
  for (const DumpEntry& entry : dump.strays) visit(entry.path);
}

bool holds(const DumpListing& dump, const std::string& path) {
  bool is_there = path == "/";
  for_each_path(dump, [&](const std::string& found) { is_there |= is_at_or_below(found, path); });
  return is_there;
}

// Normalises "/a//b/" to "/a/b".
std::string normalised(const std::string& path) {
  std::string result;
  std::size_t at = 0;
  while (at < path.size()) {
    const std::size_t slash = std::min(path.find('/', at), path.size());
    if (slash > at) result.append(1, '/').append(path, at, slash - at);
    at = slash + 1;
  }
  return result.empty() ? "/" : result;
}

// Prefix of the paths of all objects in a group.
std::string inside(const std::string& group) {
  return group == "/" ? group : fmt::format("{}/", group);
}

// Names of the direct members of a group.
std::vector<std::string> children(const DumpListing& dump, const std::string& group) {
  const std::string begin = inside(group);
  std::set<std::string> names;
  for_each_path(dump, [&](const std::string& path) {
    if (!path.starts_with(begin)) return;
    names.insert(path.substr(begin.size(), path.find('/', begin.size()) - begin.size()));
  });
  return {names.begin(), names.end()};
}

// Sorts numbers by distance, because "12" is not a misspelling of "3".
void sort_by_distance(std::vector<std::string>& names, const std::string& wanted) {
  const auto number = [](const std::string& text) {
    return std::strtoll(text.c_str(), nullptr, 10);
  };
  const long long near = number(wanted);
  std::stable_sort(names.begin(), names.end(), [&](const std::string& a, const std::string& b) {
    return std::abs(number(a) - near) < std::abs(number(b) - near);
  });
}

std::string what_is_near(const DumpListing& dump, const std::string& group,
                         const std::string& wanted) {
  constexpr std::size_t kMost = 8;
  std::vector<std::string> names = children(dump, group);
  const std::string where = group == "/" ? "it" : group;
  const bool is_number = wanted.find_first_not_of("0123456789") == wanted.npos;
  if (is_number) sort_by_distance(names, wanted);
  const std::string near = is_number ? "" : nearest(wanted, names);
  if (!near.empty()) return fmt::format("; did you mean '{}{}'?", inside(group), near);
  const std::size_t shown = std::min(names.size(), kMost);
  const std::string more =
      names.size() > shown ? fmt::format(" and {} more", names.size() - shown) : "";
  names.resize(shown);
  return names.empty() ? fmt::format("; {} is empty", where)
                       : fmt::format("; {} holds {}{}", where, fmt::join(names, ", "), more);
}

[[noreturn]] void fail_missing(const DumpListing& dump, const std::string& path) {
  std::string group = "/";
  for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string next = path.substr(0, end);
    if (!holds(dump, next)) {
      throw Error(fmt::format("{} has no '{}'{}", dump.name, path,
                              what_is_near(dump, group, next.substr(next.rfind('/') + 1))));
    }
    group = next;
  }
}

bool runs_before(const SelectedRecord& a, const SelectedRecord& b) {
  const DumpRecord &x = *a.record, &y = *b.record;
  if (x.seq.has_value() != y.seq.has_value()) return x.seq.has_value();
  return std::tie(x.seq, x.seq_text) < std::tie(y.seq, y.seq_text);
}

}  // namespace

bool is_at_or_below(std::string_view path, std::string_view ancestor) {
  if (ancestor == "/") return true;
  return path.starts_with(ancestor) &&
         (path.size() == ancestor.size() || path[ancestor.size()] == '/');
}

std::vector<std::string> find_paths(const DumpListing& dump,
                                    const std::vector<std::string>& paths) {
  std::vector<std::string> found;
  for (const std::string& asked : paths) {
    std::string path = normalised(asked);
    if (!holds(dump, path)) fail_missing(dump, path);
    const auto is_over = [&](const std::string& other) { return is_at_or_below(path, other); };
    if (std::any_of(found.begin(), found.end(), is_over)) continue;
    std::erase_if(found, [&](const std::string& other) { return is_at_or_below(other, path); });
    found.push_back(std::move(path));
  }
  return found;
}

DumpSelection select(const DumpListing& dump, const DumpQuery& query) {
  const std::vector<std::string> paths = find_paths(dump, query.paths);
  const auto is_asked_for = [&](std::string_view path) {
    return paths.empty() || std::any_of(paths.begin(), paths.end(), [&](const std::string& asked) {
             return is_at_or_below(path, asked);
           });
  };
  const auto is_chosen = [&](const DumpEntry& entry, bool is_op_chosen) {
    return is_asked_for(entry.path) && (!query.only || is_op_chosen || query.only(entry.path));
  };
  DumpSelection selection;
  for (const DumpRecord& record : dump.records) {
    const bool is_op_chosen = query.only && query.only(record.op);
    SelectedRecord selected{&record, {}};
    for (const DumpEntry& entry : record.entries) {
      if (is_chosen(entry, is_op_chosen)) selected.entries.push_back(&entry);
    }
    const bool is_whole = is_asked_for(record_path(record)) && (!query.only || is_op_chosen);
    if (is_whole || !selected.entries.empty()) selection.records.push_back(std::move(selected));
  }
  std::stable_sort(selection.records.begin(), selection.records.end(), runs_before);
  for (const DumpEntry& entry : dump.strays) {
    if (is_chosen(entry, false)) selection.strays.push_back(&entry);
  }
  return selection;
}

}  // namespace opbench
