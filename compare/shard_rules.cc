#include "compare/shard_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "text/input_file.h"
#include "text/name_pattern.h"
#include "text/yaml_reader.h"

namespace opbench {
namespace {

constexpr std::int64_t kMostRank = 999'999'999, kMostAxis = 31;

void set_form(const YamlValue& value, ShardRules::Rule& rule) {
  using Form = ShardRules::Rule::Form;
  const std::string text = value.text("join");
  rule.form = text == "column" ? Form::column : text == "row" ? Form::row : Form::join;
  if (text == "same") rule.join.kind = Join::Kind::same;
  if (text == "concat") rule.join.kind = Join::Kind::concat;
  if (text == "sum") rule.join.kind = Join::Kind::sum;
  if (text == "mean") rule.join.kind = Join::Kind::mean;
  const bool is_join = text == "same" || text == "concat" || text == "sum" || text == "mean";
  if (is_join || rule.form != Form::join) return;
  value.fail(
      fmt::format("join is '{}'; allowed are same, concat, sum, mean, column and row", text));
}

ShardRules::Rule read_rule(const YamlValue& value) {
  ShardRules::Rule rule;
  std::optional<std::int64_t> axis;
  bool has_join = false;
  value.mapping("a rule", {"tensors", "join", "axis"},
                [&](const std::string& key, const YamlValue& field) {
                  if (key == "tensors") {
                    const std::string pattern = field.text("tensors");
                    rule.tensors = field.located([&] { return name_pattern(pattern, "tensors"); });
                  } else if (key == "join") {
                    has_join = true;
                    set_form(field, rule);
                  } else {
                    axis = field.integer("axis", -kMostAxis - 1, kMostAxis);
                  }
                });
  if (!rule.tensors) value.fail("a rule has no 'tensors'; it needs a regular expression of paths");
  if (!has_join) value.fail("a rule has no 'join': same, concat, sum, mean, column or row");
  const bool is_concat =
      rule.form == ShardRules::Rule::Form::join && rule.join.kind == Join::Kind::concat;
  if (is_concat && !axis) value.fail("join: concat needs an 'axis'");
  if (!is_concat && axis) value.fail("'axis' is for join: concat only");
  if (axis) rule.join.axis = static_cast<int>(*axis);
  return rule;
}

void read_ranks(const YamlValue& value, ShardRules& rules) {
  for (const YamlValue& rank : value.list("ranks")) {
    const std::int64_t number = rank.integer("a rank", 0, kMostRank);
    if (std::find(rules.ranks.begin(), rules.ranks.end(), number) != rules.ranks.end()) {
      rank.fail(fmt::format("rank {} occurs twice", number));
    }
    rules.ranks.push_back(number);
  }
  if (rules.ranks.size() < 2) value.fail("ranks: at least two are needed to make a whole");
}

// True for "weight", "conv.weight", "parameters/weight", or the argument at that place.
bool is_called(const std::string& name, std::string_view word, std::string_view place) {
  return name == place || name.ends_with(word);
}

Join column(const DumpEntry& entry) {
  if (entry.side == Side::output) return {Join::Kind::concat, -1};
  const bool is_cut = is_called(entry.name, "weight", "1") || is_called(entry.name, "bias", "2");
  return is_cut ? Join{Join::Kind::concat, 0} : Join{};
}

Join row(const DumpEntry& entry) {
  if (entry.side == Side::output) return {Join::Kind::sum, 0};
  if (is_called(entry.name, "weight", "1")) return {Join::Kind::concat, 1};
  return is_called(entry.name, "bias", "2") ? Join{} : Join{Join::Kind::concat, -1};
}

}  // namespace

Join ShardRules::join_of(const DumpEntry& entry) const {
  for (const Rule& rule : rules) {
    if (!rule.tensors(entry.path)) continue;
    if (rule.form == Rule::Form::column) return column(entry);
    return rule.form == Rule::Form::row ? row(entry) : rule.join;
  }
  return {};
}

ShardRules parse_shard_rules(const std::string& text, const std::string& path) {
  ShardRules rules;
  parse_yaml(text, path)
      .mapping("shard rules", {"ranks", "rules"},
               [&](const std::string& key, const YamlValue& value) {
                 if (key == "ranks") return read_ranks(value, rules);
                 for (const YamlValue& rule : value.list("rules")) {
                   rules.rules.push_back(read_rule(rule));
                 }
               });
  return rules;
}

ShardRules load_shard_rules(const std::string& path) {
  return parse_shard_rules(read_input_file(path, "shard rules"), path);
}

}  // namespace opbench
