#include "profiles/host_log.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <numeric>
#include <ostream>

#include "profiles/task.h"

namespace opbench {
namespace {

constexpr std::string_view kCalls[] = {"aclopCompile::aclOp = OpType: ",
                                       "aclopCompileV2::aclOp = OpType: "};
constexpr std::string_view kCompile = "To compile op: ";
constexpr std::string_view kIterationMark = "=====iter";

bool is_word(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_';
}

std::string_view word_of(std::string_view text) {
  const auto end = std::find_if_not(text.begin(), text.end(), is_word);
  return text.substr(0, static_cast<std::size_t>(end - text.begin()));
}

// The text after `what`; empty if `what` is not in the text.
std::optional<std::string_view> behind(std::string_view text, std::string_view what) {
  const std::size_t at = text.find(what);
  if (at == std::string_view::npos) return std::nullopt;
  return text.substr(at + what.size());
}

bool is_day(std::string_view text) {
  return text.size() > 10 && text.starts_with("20") && text[4] == '-' && text[7] == '-';
}

// Digits of a time: 230109110428123613 for "[INFO]
// ASCENDCL(27441,python3.7):2023-01-09-11:04:28.123.613 [acl...".
std::int64_t time_of(std::string_view text) {
  auto rest = behind(text, "):");
  while (rest && !is_day(*rest)) rest = behind(*rest, "):");
  if (!rest) return 0;
  constexpr int kMostDigits = 18;
  std::int64_t time = 0;
  int digits = 0;
  for (const char letter : rest->substr(2, rest->find(' ') - 2)) {
    if (std::isdigit(static_cast<unsigned char>(letter)) == 0 || digits == kMostDigits) continue;
    time = time * 10 + (letter - '0');
    ++digits;
  }
  for (; digits < kMostDigits; ++digits) time *= 10;
  return time;
}

}  // namespace

void HostLogs::add_call(std::string_view op, std::string_view descriptor, bool is_cut,
                        LineReader& log) {
  const auto [found, is_new] =
      by_text_.try_emplace(fmt::format("{} {}", op, descriptor), calls_.size());
  if (is_new) {
    calls_.push_back(parse_call(op, descriptor, is_cut));
    calls_.back().first = {log.skipped().file(), log.line()};
  }
  ++calls_[found->second].count;
  made_.push_back({time_of(log.text()), found->second});
}

bool HostLogs::read_call(LineReader& log) {
  for (const std::string_view what : kCalls) {
    const auto rest = behind(log.text(), what);
    if (!rest) continue;
    const std::string_view op = word_of(*rest);
    std::string_view descriptor = rest->substr(op.size());
    while (descriptor.starts_with(' ') || descriptor.starts_with(',')) descriptor.remove_prefix(1);
    while (descriptor.ends_with(' ')) descriptor.remove_suffix(1);
    if (op.empty()) {
      log.skip("a call without a name");
    } else {
      add_call(op, descriptor, false, log);
    }
    return true;
  }
  return false;
}

// Reads a line of ascend_op_info_summary.txt.
bool HostLogs::read_summary_line(LineReader& log) {
  const std::string_view op = word_of(log.text());
  const std::string_view descriptor = log.text().substr(op.size());
  const bool is_line = !op.empty() && (descriptor.starts_with(" InputDesc[") ||
                                       descriptor.starts_with(" OutputDesc["));
  if (is_line) add_call(op, descriptor.substr(1), true, log);
  return is_line;
}

// Newer versions log a compilation twice; the second line has its time.
bool HostLogs::read_compile(std::string_view text) {
  const auto rest = behind(text, kCompile);
  if (!rest) return false;
  const std::string_view op = word_of(*rest);
  if (op.empty()) return false;
  if (blocks_.empty()) blocks_.emplace_back();
  CompileBlock& block = blocks_.back();
  if (const auto time = behind(*rest, "compile time is ")) {
    double milliseconds = 0;
    std::from_chars(time->data(), time->data() + time->size(), milliseconds);
    if (milliseconds > 0 && milliseconds < 1e12) block.milliseconds += milliseconds;
    return true;
  }
  ++block.compiles;
  if (std::find(block.ops.begin(), block.ops.end(), op) == block.ops.end()) {
    block.ops.emplace_back(op);
  }
  return true;
}

bool HostLogs::read_mark(std::string_view text) {
  const std::size_t at = text.find(kIterationMark);
  if (at == std::string_view::npos) return false;
  constexpr std::string_view kLine = "=====";
  if (blocks_.empty()) blocks_.emplace_back();
  blocks_.push_back({std::string(word_of(text.substr(at + kLine.size()))), {}, 0, 0});
  return true;
}

bool HostLogs::read_problem(LineReader& log) {
  std::optional<LogProblem> problem = parse_problem(log.text());
  if (!problem) return false;
  constexpr std::size_t kMostProblems = 1000;
  std::string key = problem->is_error ? problem->text : std::string();
  std::erase_if(key, [](char letter) { return letter >= '0' && letter <= '9'; });
  key.append(1, kKeySeparator).append(problem->op).append(problem->is_error ? "error" : "miss");
  const auto found = problems_by_text_.find(key);
  if (found == problems_by_text_.end() && problems_.size() >= kMostProblems) return true;
  const std::size_t place = found == problems_by_text_.end() ? problems_.size() : found->second;
  if (place == problems_.size()) {
    problem->first = {log.skipped().file(), log.line()};
    problems_by_text_.emplace(std::move(key), place);
    problems_.push_back(std::move(*problem));
  }
  ++problems_[place].counts[blocks_.empty() ? 0 : blocks_.size() - 1];
  return true;
}

std::int64_t HostLogs::read(LineReader& log) {
  std::int64_t lines = 0;
  while (log.next()) {
    const bool is_told = read_call(log) || read_compile(log.text()) || read_mark(log.text()) ||
                         read_problem(log) || read_summary_line(log);
    lines += is_told ? 1 : 0;
  }
  return lines;
}

std::vector<std::size_t> HostLogs::sequence() const {
  std::vector<std::size_t> order(made_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return made_[a].time < made_[b].time; });
  for (std::size_t& one : order) one = made_[one].call;
  return order;
}

std::vector<std::pair<std::string, std::int64_t>> HostLogs::compiled_after(
    std::int64_t steps) const {
  std::vector<std::pair<std::string, std::int64_t>> found;
  for (std::int64_t i = steps + 1; i < std::ssize(blocks_); ++i) {
    for (const std::string& op : blocks_[static_cast<std::size_t>(i)].ops) {
      const auto known = std::find_if(found.begin(), found.end(),
                                      [&](const auto& one) { return one.first == op; });
      if (known == found.end()) {
        found.emplace_back(op, 1);
      } else {
        ++known->second;
      }
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return found;
}

bool is_host_log_name(std::string_view name) {
  return name.ends_with(".log") || name.ends_with(".out");
}

bool is_host_log(std::string_view beginning) {
  constexpr std::string_view kShows[] = {kCalls[0], kCalls[1], kCompile, kIterationMark,
                                         "Desc[0]: [TensorDesc] "};
  return has_part_of(kShows, beginning) || has_log_problem(beginning);
}

void write_op_info(std::ostream& out, const HostLogs& logs) {
  const std::vector<LoggedCall>& calls = logs.calls();
  std::unordered_map<std::string_view, std::size_t> types;  // in the order of their first calls
  std::vector<bool> is_new(calls.size(), true);
  std::vector<std::size_t> once;
  for (const std::size_t call : logs.sequence()) {
    types.try_emplace(calls[call].op, types.size());
    if (is_new[call]) once.push_back(call);
    is_new[call] = false;
  }
  std::stable_sort(once.begin(), once.end(), [&](std::size_t a, std::size_t b) {
    return types[calls[a].op] < types[calls[b].op];
  });
  for (const std::size_t call : once)
    out << calls[call].op << ' ' << calls[call].descriptor << '\n';
}

void write_recompiles(std::ostream& out, const HostLogs& logs) {
  for (std::size_t i = 0; i < logs.blocks().size(); ++i) {
    out << fmt::format("iter: {}\n{}\n", i, fmt::join(logs.blocks()[i].ops, ","));
  }
}

}  // namespace opbench
