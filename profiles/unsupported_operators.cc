#include "profiles/unsupported_operators.h"

#include <algorithm>
#include <cctype>

namespace opbench {
namespace {

bool is_of_name(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_' || letter == ':' ||
         letter == '.';
}

// Calls `use` for each line of a text, without its end.
template <class Use>
void for_each_line(std::string_view text, Use use) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    use(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

// Calls `use` for each word of letters, digits, '_', ':' and '.'.
template <class Use>
void for_each_name(std::string_view text, Use use) {
  while (!text.empty()) {
    const auto begin = std::find_if(text.begin(), text.end(), is_of_name);
    const auto end = std::find_if_not(begin, text.end(), is_of_name);
    if (begin != end)
      use(text.substr(static_cast<std::size_t>(begin - text.begin()),
                      static_cast<std::size_t>(end - begin)));
    text.remove_prefix(static_cast<std::size_t>(end - text.begin()));
  }
}

// Rows below the heading of the profiler's table begin with an operator.
std::vector<std::string> first_words(std::string_view text) {
  std::vector<std::string> words;
  bool is_table = false;
  for_each_line(text, [&](std::string_view line) {
    std::string first;
    for_each_name(line, [&](std::string_view name) {
      if (first.empty()) first = name;
    });
    if (first == "Name") is_table = line.find("CPU") != line.npos;
    if (is_table && !first.empty() && first != "Name") words.push_back(first);
  });
  std::erase_if(words, [](const std::string& word) {  // "Self CPU time total" ends the table
    return std::islower(static_cast<unsigned char>(word[0])) == 0 && word[0] != '_';
  });
  return words;
}

}  // namespace

std::vector<std::string> framework_operators(std::string_view text) {
  std::vector<std::string> found;
  std::set<std::string_view> seen;
  for_each_name(text, [&](std::string_view name) {
    // "torch::autograd::AccumulateGrad" is a node of autograd.
    const bool is_operator = name.find("::") != name.npos && !name.starts_with("torch::") &&
                             std::islower(static_cast<unsigned char>(name[0])) != 0;
    if (is_operator && seen.insert(name).second) found.emplace_back(name);
  });
  if (!found.empty()) return found;
  std::set<std::string> once;
  for (std::string& word : first_words(text)) {
    if (once.insert(word).second) found.push_back(std::move(word));
  }
  return found;
}

OperatorList::OperatorList(std::string_view text) {
  for_each_line(text, [&](std::string_view line) {
    if (line.find("否") != line.npos) return;
    for_each_name(line, [&](std::string_view name) {
      names_.emplace(name_of(name));
      const std::size_t dot = name.rfind('.');
      if (dot != name.npos) names_.emplace(name.substr(dot + 1));
    });
  });
  names_.erase("");
}

std::string_view OperatorList::name_of(std::string_view op) {
  const std::size_t space = op.rfind(':');
  if (space != op.npos) op.remove_prefix(space + 1);
  return op.substr(0, op.find('.'));
}

}  // namespace opbench
