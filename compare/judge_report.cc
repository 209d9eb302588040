#include "compare/judge_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <vector>

#include "judge/causes.h"
#include "judge/error_map.h"
#include "tensor/utf8.h"
#include "text/cell.h"
#include "text/fitted.h"
#include "text/json_reader.h"
#include "text/table.h"

namespace opbench {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kWidth = 80;

std::string percent_text(double part, double whole) {
  return whole == 0 ? "0 %" : fmt::format("{:.3g} %", 100 * part / whole);
}

// ", in layer2.0.bn1, model.py:41"; empty if neither is recorded.
std::string origin_text(const JudgedRecord& record) {
  std::string text = record.module.empty() ? "" : ", in " + record.module;
  if (!record.source.empty()) text += ", " + record.source;
  return text;
}

// "2 of 187 operators are GUILTY", with the first of them.
std::string headline(const JudgedDump& judged) {
  const std::int64_t guilty = judged.count(Ruling::guilty);
  const auto all = std::ssize(judged.records);
  if (guilty > 0) {
    const auto first = std::find_if(judged.records.begin(), judged.records.end(),
                                    [](const auto& r) { return r.ruling == Ruling::guilty; });
    return fmt::format("GUILTY: {} of {} operators, first {}{}", guilty, all, first->path(),
                       origin_text(*first));
  }
  if (judged.count(Ruling::ok) == 0) return "UNKNOWN: nothing could be judged";
  return fmt::format("OK: none of {} operators is wrong for its inputs", judged.count(Ruling::ok));
}

std::string_view headline_colour(const JudgedDump& judged) {
  if (judged.count(Ruling::guilty) > 0) return kRed;
  return judged.count(Ruling::ok) > 0 ? kGreen : kYellow;
}

/// Records that one line counts.
struct Group {
  std::int64_t calls = 0, elements = 0;
};

// Prints the variants or numerics of correct records.
void print_implementations(std::ostream& out, const JudgedDump& judged) {
  std::map<std::string, Group> groups;
  for (const JudgedRecord& record : judged.records) {
    if (record.ruling != Ruling::ok) continue;
    std::string text = record.implementation;
    for (const OutputFinding& finding : record.findings) {
      if (!finding.numerics.empty()) text = finding.numerics;
    }
    if (!text.empty()) ++groups[fmt::format("{} {}: {}", record.op, record.dtype, text)].calls;
  }
  if (groups.empty()) return;
  out << "\nWhat made them (compared on a call or more of each operator):\n";
  for (const auto& [text, group] : groups) {
    say(out, fmt::format("{} ({})", text, counted(group.calls, "call")), 2, 2);
  }
}

// Correct and wrong records have a remark if a row of --map does not fit.
void print_unfit_rows(std::ostream& out, const JudgedDump& judged) {
  std::map<std::pair<std::string, std::string>, std::int64_t> calls;
  for (const JudgedRecord& record : judged.records) {
    const bool is_judged = record.ruling == Ruling::ok || record.ruling == Ruling::guilty;
    if (is_judged && !record.reason.empty()) ++calls[{record.op, record.reason}];
  }
  if (!calls.empty()) out << '\n';
  for (const auto& [key, count] : calls) {
    say(out, fmt::format("{} {}x: {}", key.first, count, key.second), 0, 2);
  }
}

void print_unknown(std::ostream& out, const JudgedDump& judged) {
  std::map<std::pair<std::string, std::string>, Group> groups;
  for (const JudgedRecord& record : judged.records) {
    if (record.ruling != Ruling::unknown) continue;
    Group& group = groups[{record.op, record.reason}];
    ++group.calls;
    group.elements += record.elements;
  }
  if (groups.empty()) return;
  out << "\nUNKNOWN:\n";
  for (const auto& [key, group] : groups) {
    say(out,
        fmt::format("{} {}x, {} of all elements: {}", key.first, group.calls,
                    percent_text(double(group.elements), double(judged.elements())), key.second),
        2, 2);
  }
}

Json finding_value(const OutputFinding& finding) {
  Json value = {
      {"path", printable(finding.path)}, {"operator", finding.op}, {"wrong", finding.is_wrong}};
  if (!finding.reason.empty()) value["reason"] = printable(finding.reason);
  if (!finding.pattern.empty()) value["pattern"] = finding.pattern;
  if (!finding.causes.empty()) value["causes"] = causes_value(finding.causes);
  if (!finding.numerics.empty()) value["numerics"] = finding.numerics;
  value["formula"] = finding.formula;
  value["elements"] = finding.elements;
  value["wrong_elements"] = finding.wrong_elements;
  value["min_tolerance"] = finite_or_null(finding.min_tolerance);
  if (finding.picture != nullptr) {
    add_histogram(&finding.picture->histogram, value);
    value["error_map"] = error_map_value(finding.picture->map);
  }
  return value;
}

Json record_value(const JudgedRecord& record) {
  Json value = {{"op", printable(record.op)},
                {"seq", printable(record.seq)},
                {"path", printable(record.path())},
                {"verdict", name(record.ruling)},
                {"dtype", record.dtype},
                {"device", record.device},
                {"elements", record.elements},
                {"judged_elements", record.judged}};
  if (!record.module.empty()) value["module"] = printable(record.module);
  if (!record.source.empty()) value["source"] = printable(record.source);
  if (!record.reason.empty()) value["reason"] = printable(record.reason);
  if (!record.implementation.empty()) value["implementation"] = record.implementation;
  value["outputs"] = Json::array();
  for (const OutputFinding& finding : record.findings) {
    value["outputs"].push_back(finding_value(finding));
  }
  return value;
}

Json dump_value(const JudgedDump& judged, const JudgeOrigin& origin) {
  Json value = {{"file", printable(judged.file)},
                {"command", printable(origin.command)},
                {"version", origin.version},
                {"revision", origin.revision},
                {"date", origin.date},
                {"guilty", judged.count(Ruling::guilty)},
                {"ok", judged.count(Ruling::ok)},
                {"random", judged.count(Ruling::random)},
                {"unknown", judged.count(Ruling::unknown)},
                {"elements", judged.elements()},
                {"judged_elements", judged.judged_elements()},
                {"problems", Json::array()},
                {"records", Json::array()}};
  for (const std::string& problem : judged.problems)
    value["problems"].push_back(printable(problem));
  for (const JudgedRecord& record : judged.records)
    value["records"].push_back(record_value(record));
  return value;
}

}  // namespace

void print_judged_record(std::ostream& out, const JsonValue& record, bool has_all,
                         const ConsoleStyle& style) {
  constexpr std::size_t kIndent = 11;
  constexpr std::int64_t kMost = std::int64_t{1} << 60;
  const auto text = [](const JsonValue& of, const char* key, std::string before = {}) {
    return of.has(key) ? before + of.member(key).text() : std::string();
  };
  const auto print = [&](const std::string& line) {
    if (!line.empty()) say(out, line, kIndent);
  };
  const std::string verdict = record.member("verdict").text();
  out << fmt::format("  {} {} {}\n",
                     coloured(fmt::format("{:<8}", printable(verdict)),
                              verdict == name(Ruling::guilty) ? kRed : "", style),
                     printable(record.member("path").text()),
                     printable(record.member("dtype").text()));
  const std::string module = text(record, "module", "in ");
  print(module + text(record, "source", module.empty() ? "" : ", "));
  print(text(record, "reason"));
  record.member("outputs").elements([&](const JsonValue& output) {
    const bool is_wrong = output.member("wrong").boolean();
    if (!is_wrong && !has_all) return;
    const auto count = [&](const char* key) { return output.member(key).integer(0, kMost); };
    print(output.member("path").text() + ": " +
          (is_wrong ? output.member("reason").text()
                    : "right" + text(output, "numerics", ", with ")));
    if (is_wrong && count("wrong_elements") > 0) {
      print(fmt::format("{} of {} elements are wrong{}", count("wrong_elements"), count("elements"),
                        text(output, "pattern", ": ")));
    }
    say_causes(out, output, kIndent);
    if (has_all)
      print(text(output, "operator", "recomputed by ") +
            text(output, "formula", ", checked against "));
  });
  print(text(record, "implementation"));
}

void print_judged(std::ostream& out, const JudgedDump& judged, std::size_t top, bool verbose,
                  const ConsoleStyle& style) {
  const std::string head = headline(judged);
  const std::size_t colon = head.find(':');
  out << coloured(head.substr(0, colon), headline_colour(judged), style)
      << wrapped(printable(head.substr(colon)), kWidth, 0, colon) << '\n';
  std::size_t shown = 0;
  for (const JudgedRecord& record : judged.records) {
    if (!verbose && record.ruling != Ruling::guilty) continue;
    if (shown == 0) out << '\n';
    if (shown++ >= top && top > 0) continue;
    const Json value = record_value(record);
    print_judged_record(out, JsonValue(value, judged.file), false, style);
  }
  if (top > 0 && shown > top) out << fmt::format("  and {} more; --top 0 shows all\n", shown - top);
  print_implementations(out, judged);
  print_unfit_rows(out, judged);
  print_unknown(out, judged);
  for (const std::string& problem : judged.problems) {
    out << fmt::format("not read: {}\n", printable(problem));
  }
  const std::string file = printable(judged.file) + ':';
  const std::string counts =
      fmt::format("{} GUILTY, {} OK, {} RANDOM, {} UNKNOWN; {} of the recorded elements judged",
                  judged.count(Ruling::guilty), judged.count(Ruling::ok),
                  judged.count(Ruling::random), judged.count(Ruling::unknown),
                  percent_text(double(judged.judged_elements()), double(judged.elements())));
  const bool fits = file.size() + 1 + counts.size() <= kWidth;
  out << '\n' << file << (fits ? " " : "\n  ") << counts << '\n';
}

void print_judged_pairs(std::ostream& out, const std::vector<JudgedPair>& pairs,
                        const JudgedDump& first, const JudgedDump& second, std::size_t top,
                        const ConsoleStyle& style) {
  const PairCounts counts = count(pairs);
  out << fmt::format(
      "\n{} calls are in both. Wrong for their inputs: {} in {} alone, {} in {} alone, {} in "
      "both.\n",
      counts.pairs, counts.only_first, printable(first.file), counts.only_second,
      printable(second.file), counts.both);
  TextTable table{columns_of("first|second")};
  for (const JudgedPair& pair : pairs) {
    const bool is_any = (pair.first != nullptr && pair.first->ruling == Ruling::guilty) ||
                        (pair.second != nullptr && pair.second->ruling == Ruling::guilty);
    if (!is_any || (top > 0 && table.rows.size() >= top)) continue;
    const auto text = [](const JudgedRecord* record) {
      return record == nullptr ? std::string("-")
                               : fmt::format("{} {}", record->path(), name(record->ruling));
    };
    table.rows.push_back({text(pair.first), text(pair.second)});
  }
  if (!table.rows.empty()) print_table(out, table, style);
}

void write_judged_json(std::ostream& out, const JudgedDump& judged, const JudgeOrigin& origin) {
  out << dump_value(judged, origin).dump(1, ' ', false, Json::error_handler_t::replace) << '\n';
}

void write_judged_json(std::ostream& out, const JudgedDump& first, const JudgedDump& second,
                       const std::vector<JudgedPair>& pairs, const JudgeOrigin& origin) {
  Json value = {{"first", dump_value(first, origin)},
                {"second", dump_value(second, origin)},
                {"pairs", Json::array()}};
  for (const JudgedPair& pair : pairs) {
    Json one = Json::object();
    for (const auto& [side, record] : {std::pair("first", pair.first), {"second", pair.second}}) {
      const bool is_there = record != nullptr;
      one[side] = is_there ? Json(printable(record->path())) : Json(nullptr);
      one[fmt::format("{}_verdict", side)] = is_there ? Json(name(record->ruling)) : Json(nullptr);
    }
    value["pairs"].push_back(std::move(one));
  }
  out << value.dump(1, ' ', false, Json::error_handler_t::replace) << '\n';
}

}  // namespace opbench
