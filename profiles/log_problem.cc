// Errors of a host log, and misses of the cache of compiled operators. A line:
//   [ERROR] FE(27441,python3.7):2023-01-09-11:04:28.123.613 [file.cc:42]27441 Function: message
// Source: the published format of CANN's logs; acl_dynamic_shape_op_map.h has the message of a
// miss.
#include <algorithm>

#include "profiles/host_log.h"
#include "tensor/utf8.h"

namespace opbench {
namespace {

constexpr std::string_view kError = "[ERROR] ";
// "Match op inputs failed. opType = Add, ..", also "Match op type failed" and "inputs/type".
constexpr std::string_view kMiss = "Match op ";

bool is_name_letter(char letter) {
  const bool is_letter = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z');
  return is_letter || (letter >= '0' && letter <= '9') || letter == '_';
}

// True for "FE(27441,python3.7):2023-...": other programs write [ERROR] too.
bool begins_log(std::string_view text) {
  const std::size_t name =
      std::find_if_not(text.begin(), text.end(), is_name_letter) - text.begin();
  if (name == 0 || name + 1 >= text.size() || text[name] != '(') return false;
  return text[name + 1] >= '0' && text[name + 1] <= '9';
}

// The text behind "[file.cc:42]27441 ", else behind the level.
std::string_view message_of(std::string_view line) {
  const std::size_t place = line.find(" [", kError.size());
  const std::size_t end = place == line.npos ? line.npos : line.find(']', place);
  if (end == line.npos) return trimmed(line.substr(std::min(line.find(' '), line.size())));
  std::string_view text = line.substr(end + 1);
  const std::size_t begin = text.find_first_not_of("0123456789 ");
  return begin == text.npos ? std::string_view() : trimmed(text.substr(begin));
}

// The operator that the message names.
std::string_view op_of(std::string_view message) {
  constexpr std::string_view kBefore[] = {"opType = ", "OpType: ", "opType:", "op type ",
                                          "Op type ",  "op_type ", "Op[",     "op[",
                                          "Op ",       "op "};
  for (const std::string_view before : kBefore) {
    const std::size_t at = message.find(before);
    if (at == message.npos) continue;
    std::string_view name = message.substr(at + before.size());
    const std::size_t begin = name.find_first_not_of("[:= '\"");
    if (begin == name.npos) continue;
    name.remove_prefix(begin);
    const auto end = std::find_if_not(name.begin(), name.end(), is_name_letter);
    name = name.substr(0, static_cast<std::size_t>(end - name.begin()));
    // Operators begin with a capital letter; topKD is named so in messages.
    const bool has_capital =
        std::any_of(name.begin(), name.end(), [](char one) { return one >= 'A' && one <= 'Z'; });
    if (has_capital) return name;
  }
  return {};
}

}  // namespace

std::optional<LogProblem> parse_problem(std::string_view line) {
  line = trimmed(line);
  LogProblem problem;
  problem.is_error = line.starts_with(kError) && begins_log(line.substr(kError.size()));
  if (!problem.is_error) {
    const std::size_t at = line.find(kMiss);
    if (!line.starts_with('[') || at == line.npos) return std::nullopt;
    const std::string_view rest = line.substr(at + kMiss.size());
    if (rest.substr(0, rest.find('.')).find(" failed") == rest.npos) return std::nullopt;
  }
  constexpr std::size_t kLongest = 300;
  const std::string_view message = message_of(line);
  problem.op = op_of(message);
  problem.text = message.substr(0, kLongest);
  return problem;
}

bool has_log_problem(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    if (text[0] == '[' && parse_problem(text.substr(0, end))) return true;
    text.remove_prefix(end);
  }
  return false;
}

}  // namespace opbench
