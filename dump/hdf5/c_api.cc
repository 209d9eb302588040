#include "dump/hdf5/c_api.h"

#include <cstdio>
#include <optional>
#include <string>

#include "tensor/utf8.h"

namespace opbench::hdf5 {
namespace {

constexpr std::size_t kTextBytes = 1024;

// The upward walk starts at the innermost error. A positive result ends it.
herr_t keep_first(unsigned, const H5E_error2_t* error, void* text) {
  std::snprintf(static_cast<char*>(text), kTextBytes, "%s", error->desc);
  return 1;
}

herr_t keep_innermost(hid_t stack, void* text) {
  H5Ewalk2(stack, H5E_WALK_UPWARD, keep_first, text);
  return 0;
}

// Rewords the library's "truncated file: eof = 3000, sblock->base_addr = 0, stored_eof = 33144".
std::optional<std::string> cut_off(std::string_view text) {
  unsigned long long there = 0, base = 0, wanted = 0;
  const int found =
      std::sscanf(std::string(text).c_str(),
                  "truncated file: eof = %llu, sblock->base_addr = %llu, stored_eof = %llu", &there,
                  &base, &wanted);
  if (found != 3) return std::nullopt;
  return "truncated file: it has " + std::to_string(there) + " of " + std::to_string(wanted) +
         " bytes; copy it again";
}

}  // namespace

ErrorCapture::ErrorCapture() {
  static_assert(sizeof text_ == kTextBytes);
  H5Eget_auto2(H5E_DEFAULT, &previous_, &previous_data_);
  H5Eset_auto2(H5E_DEFAULT, keep_innermost, text_);
}

ErrorCapture::~ErrorCapture() { H5Eset_auto2(H5E_DEFAULT, previous_, previous_data_); }

std::string ErrorCapture::text() const {
  const std::string_view all = text_;
  constexpr std::string_view kSystem = "error message = '";
  const std::size_t begin = all.find(kSystem);
  if (begin == all.npos) return cut_off(all).value_or(printable(all));
  const std::string_view rest = all.substr(begin + kSystem.size());
  return printable(rest.substr(0, rest.find('\'')));
}

}  // namespace opbench::hdf5
