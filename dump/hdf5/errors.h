#pragma once

#include <H5Cpp.h>
#include <fmt/format.h>

#include <string>
#include <string_view>

#include "tensor/error.h"

namespace opbench::hdf5 {

/// While it lives, HDF5 errors of this thread are kept here instead of being printed. They are
/// taken down when they happen, because the destructors that run before a `catch` clear HDF5's own
/// record.
class ErrorCapture {
 public:
  ErrorCapture();
  ErrorCapture(const ErrorCapture&) = delete;
  ErrorCapture& operator=(const ErrorCapture&) = delete;
  ~ErrorCapture();

  /// The innermost text of the last error; the operating system's own words where it has some.
  std::string text() const;

 private:
  H5E_auto2_t previous_ = nullptr;
  void* previous_data_ = nullptr;
  char text_[1024] = {};
};

/// Passes a C status or count on. Errors: throws H5::Exception if it is negative.
template <class Status>
Status checked(Status status) {
  if (status < 0) throw H5::Exception("", "HDF5 call failed");
  return status;
}

/// `work()`; what HDF5 throws becomes Failure("{doing}: {innermost text}").
template <class Failure, class Work>
decltype(auto) guarded(std::string_view doing, Work&& work) {
  const ErrorCapture capture;
  try {
    return work();
  } catch (const H5::Exception& exception) {
    const std::string text = capture.text();
    throw Failure(fmt::format("{}: {}", doing, text.empty() ? exception.getDetailMsg() : text));
  }
}

}  // namespace opbench::hdf5
