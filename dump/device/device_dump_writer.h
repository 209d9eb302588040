#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "dump/dump_types.h"
#include "tensor/tensor.h"
#include "text/temporary_file.h"

namespace opbench {

/// What a device dump says of itself, beside its data.
struct DeviceDumpHead {
  std::string op_name;     ///< "scope/op"
  std::uint64_t time = 0;  ///< microseconds since 1970, UTC
  std::vector<TensorDesc> inputs, outputs;
};

/// A dump file as a device writes it, version 2 (see DeviceDumpVersion): tensors as they are
/// stored, padding included, with their shapes as stored and without padding. It has its real name
/// once it is finished. Errors: throws RunError if it cannot be written, Error for shapes that do
/// not fit their format.
class DeviceDumpWriter {
 public:
  DeviceDumpWriter(const std::filesystem::path& path, const DeviceDumpHead& head);

  /// The elements of a tensor, all of its storage. Each tensor is written once, in any order.
  void write(Side side, std::size_t index, const void* storage);
  void finish();

 private:
  struct Place {
    std::uint64_t offset;
    std::size_t bytes;
  };

  TemporaryFile file_;
  std::vector<Place> inputs_, outputs_;
};

}  // namespace opbench
