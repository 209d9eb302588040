#include "text/terminal.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string>

namespace opbench {

bool takes_unicode() {
  for (const char* variable : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(variable);
    if (value == nullptr || *value == '\0') continue;
    std::string name(value);
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
    return name.find("utf-8") != name.npos || name.find("utf8") != name.npos;
  }
  return true;
}

}  // namespace opbench
