#include "ops/op_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <tuple>

#include "ops/positional_call.h"
#include "tensor/utf8.h"

namespace opbench {
namespace {

// Operators with random results, which no reference computes, and their distributions.
constexpr std::pair<Drawn, std::string_view> kDrawnAtRandom[] = {
    {Drawn::bernoulli, "bernoulli, bernoulli_float"},
    {Drawn::uniform, "uniform"},
    {Drawn::normal, "normal"},
    {Drawn::dropout, "dropout, native_dropout, npu_dropout, _dropout_impl"},
    {Drawn::somehow,
     "_fused_dropout, feature_dropout, DropoutV2, random, rand, randn, randint, randperm, "
     "rand_like, randn_like, exponential, multinomial, rrelu, DropOutGenMask, RandomUniform"},
};

// "name: text" split at its first colon, or the name alone.
std::pair<std::string, std::optional<std::string>> split_pair(std::string_view item) {
  const std::size_t colon = item.find(':');
  if (colon == std::string_view::npos) return {std::string(item), std::nullopt};
  return {std::string(item.substr(0, colon)), std::string(trimmed(item.substr(colon + 1)))};
}

std::vector<RecordedName> recorded_names(std::string_view list) {
  std::vector<RecordedName> all;
  for (const std::string& one : items_of(list)) all.push_back(RecordedName::of(one));
  return all;
}

OpUse use_of(const KnownPart& part, std::string_view needs) {
  OpUse use{&find_op(part.op),
            recorded_names(part.inputs),
            recorded_names(part.outputs),
            {},
            items_of(needs)};
  for (const std::string& item : items_of(part.attrs)) {
    const auto [ours, theirs] = split_pair(item);
    if (!has_attr(*use.op, ours)) {
      throw std::logic_error(fmt::format("{} has no attribute '{}'", part.op, ours));
    }
    use.attrs.emplace_back(ours, AttrSource::of(theirs.value_or(ours)));
  }
  return use;
}

void add_conditions(std::string_view list, bool is_needed, OpRow& row) {
  for (const std::string& item : items_of(list)) {
    const auto [name, numbers] = split_pair(item);
    RecordedCondition condition{name, {}, is_needed};
    std::istringstream text(numbers.value_or(""));
    for (double number = 0; text >> number;) condition.values.push_back(number);
    row.where.push_back(std::move(condition));
  }
}

OpRow row_of(const Op& op, const KnownCall& call) {
  const KnownCallRules& rules = call.rules;
  OpRow row;
  row.names = items_of(call.names);
  row.devices = items_of(rules.devices);
  add_conditions(rules.where, false, row);
  add_conditions(rules.only, true, row);
  for (const KnownPart& part : rules.parts) row.uses.push_back(use_of(part, {}));
  if (row.uses.empty()) {
    row.uses.push_back(use_of({op.name, call.inputs, call.outputs, rules.attrs}, rules.needs));
  }
  return row;
}

std::string without_overload(std::string name) {
  const auto underscore = name.find('_', 1);
  for (auto at = underscore; at != std::string::npos; at = name.find('_', at + 1)) {
    const bool is_overload =
        at + 1 < name.size() && std::isupper(static_cast<unsigned char>(name[at + 1]));
    if (is_overload) return name.substr(0, at);
  }
  return name;
}

std::string without_digits(std::string name) {
  while (!name.empty() && std::isdigit(static_cast<unsigned char>(name.back()))) name.pop_back();
  return name;
}

}  // namespace

RecordedName RecordedName::of(std::string_view text) {
  constexpr std::string_view kAxis = " with axis ", kOf = " of ", kAxes = " axes";
  RecordedName name;
  if (const std::size_t at = text.rfind(kOf); at != text.npos && text.ends_with(kAxes)) {
    const std::string_view number = text.substr(at + kOf.size());
    std::from_chars(number.data(), number.data() + number.size(), name.axes);
    text = text.substr(0, at);
  }
  if (const std::size_t at = text.find(kAxis); at != std::string_view::npos) {
    name.new_axis = text.substr(at + kAxis.size());
    text = text.substr(0, at);
  }
  for (std::size_t start = 0; start <= text.size() && !text.empty();) {
    const std::size_t bar = std::min(text.find('|', start), text.size());
    std::string one(text.substr(start, bar - start));
    if (one.ends_with('?')) {
      one.pop_back();
      name.is_optional = true;
    }
    name.names.push_back(std::move(one));
    start = bar + 1;
  }
  return name;
}

AttrSource AttrSource::of(std::string_view text) {
  constexpr std::pair<std::string_view, AttrSource::Kind> kPrefixes[] = {
      {"shape of ", AttrSource::shape},
      {"plane of ", AttrSource::plane},
      {"whole plane of ", AttrSource::whole_plane},
      {"dtype of ", AttrSource::dtype},
      {"rows of ", AttrSource::rows},
      {"kept shape of ", AttrSource::kept},
      {"extents of ", AttrSource::extents},
      {"borders of ", AttrSource::borders},
      {"1 - ", AttrSource::complement},
      {"- ", AttrSource::negated}};
  if (text.starts_with('=')) return {AttrSource::constant, {}, std::string(text.substr(1))};
  for (const auto& [prefix, kind] : kPrefixes) {
    if (!text.starts_with(prefix)) continue;
    constexpr std::string_view kAlong = " along ", kFrom = " from ", kBy = " by ";
    const std::string_view rest = text.substr(prefix.size());
    const std::size_t along = std::min(rest.find(kAlong), rest.size());
    AttrSource source{kind, RecordedName::of(rest.substr(0, along)), {}};
    if (along == rest.size()) return source;
    std::string_view axis = rest.substr(along + kAlong.size());
    if (const std::size_t by = axis.find(kBy); by != std::string_view::npos) {
      source.step = axis.substr(by + kBy.size());
      axis = axis.substr(0, by);
    }
    const std::size_t from = std::min(axis.find(kFrom), axis.size());
    source.along = axis.substr(0, from);
    if (from < axis.size()) source.start = axis.substr(from + kFrom.size());
    return source;
  }
  constexpr std::string_view kAs = " as ";
  const std::size_t as = text.find(kAs);
  AttrSource source{AttrSource::recorded, RecordedName::of(text.substr(0, as)), {}};
  if (as != std::string::npos) {
    source.words = RecordedName::of(text.substr(as + kAs.size())).names;
  }
  return source;
}

std::vector<std::string> spellings(std::string_view recorded_op) {
  std::vector<std::string> all;
  const auto add = [&](std::string name) {
    if (!name.empty() && std::find(all.begin(), all.end(), name) == all.end()) all.push_back(name);
  };
  std::string name(recorded_op);
  add(name);
  if (const PositionalCall* call = find_positional_call(recorded_op)) {
    add(std::string(call->name));
    return all;
  }
  if (const auto colons = name.rfind("::"); colons != std::string::npos) name.erase(0, colons + 2);
  std::replace(name.begin(), name.end(), '.', '_');
  add(name);
  // Operators in place: "add__Tensor", "relu_".
  if (const auto twice = name.find("__", 1); twice != std::string::npos) name.erase(twice, 1);
  if (name.ends_with('_')) name.pop_back();
  add(name);
  const bool is_backward = name.find("Backward") != std::string::npos;
  add(is_backward ? without_digits(name) : without_overload(name));
  return all;
}

bool only_writes(std::string_view recorded_op) {
  constexpr std::array<std::string_view, 8> kNames = {
      "fill_", "zero_", "copy_", "uniform_", "normal_", "random_", "exponential_", "bernoulli_"};
  return std::any_of(kNames.begin(), kNames.end(), [&](std::string_view name) {
    return recorded_op.starts_with(name) &&
           (recorded_op.size() == name.size() || recorded_op[name.size()] == '_');
  });
}

bool has_attr(const Op& op, std::string_view name) {
  return std::any_of(op.attrs.begin(), op.attrs.end(),
                     [&](const AttrSpec& spec) { return spec.name == name; });
}

std::vector<std::string> items_of(std::string_view list) {
  std::vector<std::string> items;
  for (std::size_t start = 0; !list.empty() && start <= list.size();) {
    const std::size_t comma = std::min(list.find(',', start), list.size());
    items.emplace_back(trimmed(list.substr(start, comma - start)));
    start = comma + 1;
  }
  return items;
}

const std::vector<ProfiledCall>& profiled_calls() {
  static const std::vector<ProfiledCall> all = [] {
    std::vector<ProfiledCall> calls;
    for (const Op* op : RegisteredOp::all()) {
      const std::vector<ProfiledCall>& its = op->known_as.profiled;
      calls.insert(calls.end(), its.begin(), its.end());
    }
    return calls;
  }();
  return all;
}

const ProfiledCall* find_profiled_call(std::string_view name) {
  for (const ProfiledCall& one : profiled_calls()) {
    if (std::find(one.names.begin(), one.names.end(), name) != one.names.end()) return &one;
  }
  return nullptr;
}

std::string tensor_name(const std::vector<std::string>& names, std::size_t i) {
  const bool is_list = !names.empty() && names.back().ends_with('*');
  if (is_list && i + 1 >= names.size()) {
    const std::string& pattern = names.back();
    return pattern.substr(0, pattern.size() - 1) + std::to_string(i + 1 - names.size());
  }
  return i < names.size() ? names[i] : "";
}

OpTable OpTable::known(bool is_profiled_only) {
  std::vector<std::pair<int, OpRow>> rows;
  for (const Op* op : RegisteredOp::all()) {
    for (const KnownCall& call : op->known_as.calls) {
      if (call.rules.is_profiled_only != is_profiled_only) continue;
      rows.emplace_back(call.rules.turn, row_of(*op, call));
    }
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  OpTable table;
  for (auto& [turn, row] : rows) table.rows_.push_back(std::move(row));
  return table;
}

void OpTable::append(const OpTable& more) {
  rows_.insert(rows_.end(), more.rows_.begin(), more.rows_.end());
}

std::vector<std::string_view> numbers_of(Drawn drawn) {
  switch (drawn) {
    case Drawn::not_at_all:
    case Drawn::somehow:
      break;
    case Drawn::bernoulli:
    case Drawn::dropout:
      return {"p"};
    case Drawn::uniform:
      return {"from", "to"};
    case Drawn::normal:
      return {"mean", "std"};
  }
  return {};
}

const OpTable& OpTable::builtin() {
  static const OpTable table = [] {
    OpTable all = known(false);
    for (const auto& [drawn, names] : kDrawnAtRandom) {
      OpRow& random = all.rows_.emplace_back();
      random.names = items_of(names);
      random.drawn = drawn;
    }
    return all;
  }();
  return table;
}

const OpTable& OpTable::profiled() {
  static const OpTable table = [] {
    OpTable all = known(true);
    all.append(builtin());
    return all;
  }();
  return table;
}

std::vector<const OpRow*> OpTable::find(std::string_view recorded_op) const {
  for (const std::string& spelling : spellings(recorded_op)) {
    std::vector<const OpRow*> found;
    for (const OpRow& row : rows_) {
      if (std::find(row.names.begin(), row.names.end(), spelling) != row.names.end()) {
        found.push_back(&row);
      }
    }
    if (!found.empty()) return found;
  }
  return {};
}

}  // namespace opbench
