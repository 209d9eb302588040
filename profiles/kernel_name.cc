#include "profiles/kernel_name.h"

#include <algorithm>

namespace opbench {

std::string_view short_kernel_name(std::string_view name) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)";
  int depth = 0;  // of template arguments; the type that is returned may have some, too
  std::size_t begin = 0, end = name.size();
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name.substr(i).starts_with(kAnonymous)) {
      i += kAnonymous.size() - 1;
    } else if (name[i] == '<') {
      ++depth;
    } else if (name[i] == '>') {
      --depth;
    } else if (depth == 0 && name[i] == '(') {
      end = i;
      break;
    } else if (depth == 0 && name[i] == ' ') {
      begin = i + 1;
    }
  }
  const std::string_view whole = name.substr(begin, end - begin);
  const std::string_view shorter = whole.substr(0, whole.find('<'));
  return shorter.empty() ? name : shorter;
}

}  // namespace opbench
