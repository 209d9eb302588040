#include "harness/check/library_name.h"

#include <cxxabi.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <memory>
#include <string_view>

namespace opbench::check {
namespace {

constexpr std::string_view kLibraries[] = {"std",  "fmt", "nlohmann", "__gnu_cxx",
                                           "dnnl", "tbb", "H5",       "Eigen"};
constexpr std::string_view kWords[] = {"abi",      "bool",     "char",     "char16_t", "char32_t",
                                       "char8_t",  "const",    "cxx11",    "delete",   "double",
                                       "false",    "float",    "int",      "long",     "new",
                                       "noexcept", "nullptr",  "operator", "short",    "signed",
                                       "true",     "unsigned", "void",     "volatile", "wchar_t"};

bool is_letter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

bool is_among(std::string_view word, const auto& words) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

struct Free {
  void operator()(char* text) const { std::free(text); }
};

}  // namespace

bool is_of_library(const std::string& mangled) {
  int status = 0;
  const std::unique_ptr<char, Free> demangled(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status));
  if (status != 0 || !demangled) return false;
  const std::string_view name = demangled.get();
  bool has_library = false;
  for (std::size_t i = 0; i < name.size();) {
    if (!is_letter(name[i])) {
      ++i;
      continue;
    }
    const std::size_t begin = i;
    while (i < name.size() && is_letter(name[i])) ++i;
    const std::string_view word = name.substr(begin, i - begin);
    const bool is_member = begin >= 2 && name.substr(begin - 2, 2) == "::";
    if (is_member || std::isdigit(static_cast<unsigned char>(word[0])) != 0) continue;
    if (is_among(word, kLibraries)) {
      has_library = true;
    } else if (!is_among(word, kWords)) {
      return false;
    }
  }
  return has_library;
}

}  // namespace opbench::check
