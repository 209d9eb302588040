#pragma once

#include <H5Cpp.h>
#include <fmt/format.h>
#include <hdf5.h>

#include <string>
#include <string_view>
#include <utility>

#include "tensor/error.h"

namespace opbench::hdf5 {

/// Collects HDF5 errors of this thread instead of printing them, during its lifetime. Errors are
/// copied when they occur, because destructors that run before a `catch` clear HDF5's error stack.
class ErrorCapture {
 public:
  ErrorCapture();
  ErrorCapture(const ErrorCapture&) = delete;
  ErrorCapture& operator=(const ErrorCapture&) = delete;
  ~ErrorCapture();

  /// The innermost text of the last error; the operating system's message if there is one.
  std::string text() const;

 private:
  H5E_auto2_t previous_ = nullptr;
  void* previous_data_ = nullptr;
  char text_[1024] = {};
};

/// Returns a C status or count. Errors: throws H5::Exception if it is negative.
template <class Status>
Status checked(Status status) {
  if (status < 0) throw H5::Exception("", "HDF5 call failed");
  return status;
}

/// Runs `work()`. HDF5 errors become Failure("{doing}: {innermost text}").
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

/// Owns an identifier of the C API, which lists large files faster than the C++ API. Errors:
/// H5::Exception if the call that created it failed.
template <herr_t (*Close)(hid_t)>
class Handle {
 public:
  explicit Handle(hid_t id) : id_(checked(id)) {}
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    return *this;
  }
  ~Handle() {
    if (id_ >= 0) Close(id_);
  }
  operator hid_t() const { return id_; }

 private:
  hid_t id_;
};

using ObjectHandle = Handle<H5Oclose>;
using AttributeHandle = Handle<H5Aclose>;
using TypeHandle = Handle<H5Tclose>;
using SpaceHandle = Handle<H5Sclose>;
using ListHandle = Handle<H5Pclose>;

}  // namespace opbench::hdf5
