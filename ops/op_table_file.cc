// Tables of operators that users write (--map).
#include <fmt/format.h>

#include "ops/op_table.h"
#include "text/input_file.h"
#include "text/yaml_reader.h"

namespace opbench {
namespace {

std::vector<std::string> texts(const YamlValue& value, std::string_view what) {
  std::vector<std::string> all;
  for (const YamlValue& one : value.list(what, true)) all.push_back(one.text(what));
  return all;
}

std::vector<RecordedName> recorded_names(const YamlValue& value, std::string_view what) {
  std::vector<RecordedName> all;
  for (const std::string& one : texts(value, what)) all.push_back(RecordedName::of(one));
  return all;
}

void read_attrs(const YamlValue& value, OpUse& use) {
  value.mapping("attrs", [&](const std::string& name, const YamlValue& source) {
    if (!has_attr(*use.op, name)) {
      source.fail(fmt::format("{} has no attribute '{}'", use.op->name, name));
    }
    use.attrs.emplace_back(name, AttrSource::of(source.text("the source of an attribute")));
  });
}

const std::vector<std::string> kUseKeys = {"op", "inputs", "outputs", "attrs", "needs"};

// `op` comes first: the other keys depend on it.
void read_use_key(const std::string& key, const YamlValue& value, OpUse& use) {
  if (key == "op") {
    use.op = value.located([&] { return &find_op(value.text("op")); });
  } else if (use.op == nullptr) {
    value.fail(fmt::format("'{}' is before 'op', which must come first", key));
  } else if (key == "inputs") {
    use.inputs = recorded_names(value, "an input");
  } else if (key == "outputs") {
    use.outputs = recorded_names(value, "an output");
  } else if (key == "attrs") {
    read_attrs(value, use);
  } else {
    use.needs = texts(value, "an attribute");
  }
}

void check_use(const OpUse& use, const YamlValue& place) {
  if (use.op == nullptr) place.fail("'op' is missing");
  if (use.inputs.empty()) place.fail("'inputs' is missing");
  if (use.outputs.empty()) place.fail("'outputs' is missing");
}

void read_conditions(const std::string& key, const YamlValue& value, OpRow& row) {
  value.mapping(key, [&](const std::string& name, const YamlValue& wanted) {
    RecordedCondition condition{name, {}, key == "only"};
    for (const YamlValue& one : wanted.list("a number", true)) {
      condition.values.push_back(one.number("a number", -1e300, 1e300));
    }
    row.where.push_back(std::move(condition));
  });
}

OpRow read_row(const YamlValue& value) {
  OpRow row;
  OpUse single;
  std::vector<std::string> keys = kUseKeys;
  keys.insert(keys.end(), {"names", "parts", "where", "only", "devices", "random"});
  value.mapping("a row", keys, [&](const std::string& key, const YamlValue& of) {
    if (key == "names") {
      row.names = texts(of, "a name");
    } else if (key == "where" || key == "only") {
      read_conditions(key, of, row);
    } else if (key == "devices") {
      row.devices = texts(of, "a device");
    } else if (key == "random") {
      row.drawn = of.boolean("random") ? Drawn::somehow : Drawn::not_at_all;
    } else if (key == "parts") {
      for (const YamlValue& part : of.list("parts")) {
        OpUse use;
        part.mapping("a part", kUseKeys,
                     [&](const std::string& k, const YamlValue& v) { read_use_key(k, v, use); });
        check_use(use, part);
        row.uses.push_back(std::move(use));
      }
    } else {
      read_use_key(key, of, single);
    }
  });
  if (row.names.empty()) value.fail("a row needs 'names'");
  if (row.drawn != Drawn::not_at_all || !row.uses.empty()) return row;
  check_use(single, value);
  row.uses.push_back(std::move(single));
  return row;
}

std::vector<OpRow> read_rows(const std::string& text, const std::string& path) {
  std::vector<OpRow> rows;
  parse_yaml(text, path)
      .mapping("an operator table", {"operators", "ops", "params"},
               [&](const std::string& key, const YamlValue& value) {
                 if (key != "operators") return;
                 for (const YamlValue& row : value.list("operators")) rows.push_back(read_row(row));
               });
  return rows;
}

}  // namespace

OpTable OpTable::parse(const std::string& text, const std::string& path) {
  OpTable table;
  table.rows_ = read_rows(text, path);
  table.append(builtin());
  return table;
}

OpTable OpTable::load(const std::string& path) {
  return parse(read_input_file(path, "operator table"), path);
}

}  // namespace opbench
