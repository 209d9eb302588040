#pragma once

#include <hdf5.h>

#include <utility>

#include "dump/hdf5/errors.h"

namespace opbench::hdf5 {

/// Owns one identifier of the C API, which lists large files faster than the C++ one.
/// Errors: H5::Exception if the call that made it failed.
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

using FileHandle = Handle<H5Fclose>;
using ObjectHandle = Handle<H5Oclose>;
using AttributeHandle = Handle<H5Aclose>;
using TypeHandle = Handle<H5Tclose>;
using SpaceHandle = Handle<H5Sclose>;
using ListHandle = Handle<H5Pclose>;

}  // namespace opbench::hdf5
