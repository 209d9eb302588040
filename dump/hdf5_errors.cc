#include "dump/hdf5_errors.h"

#include <cstdio>

#include "tensor/printable.h"

namespace opbench::hdf5 {
namespace {

constexpr std::size_t kTextBytes = 1024;

// Walking upward starts at the innermost error; a positive result ends the walk.
herr_t keep_first(unsigned, const H5E_error2_t* error, void* text) {
  std::snprintf(static_cast<char*>(text), kTextBytes, "%s", error->desc);
  return 1;
}

herr_t keep_innermost(hid_t stack, void* text) {
  H5Ewalk2(stack, H5E_WALK_UPWARD, keep_first, text);
  return 0;
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
  if (begin == all.npos) return printable(all);
  const std::string_view rest = all.substr(begin + kSystem.size());
  return printable(rest.substr(0, rest.find('\'')));
}

}  // namespace opbench::hdf5
