#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "dump/dump_types.h"
#include "tensor/elements.h"

namespace opbench {

/// Reads stored elements by their places, in order.
using ReadPlaces = std::function<void(ElementRange places, void* to)>;

/// Reads elements `range`, in the logical order of `shape`, of data in another order: element [i,
/// j, ..] is at place i*strides[0] + j*strides[1] + .. Every place must be inside the data, and no
/// stride negative. Calls `read` only for needed elements, and for gaps that cost less than another
/// call. Memory: a few MiB.
void read_strided(const Dims& shape, const Dims& strides, ElementRange range,
                  std::size_t element_bytes, const ReadPlaces& read, void* to);

/// Like read_strided, for ranges that follow one another. Keeps a panel of the last tensor in
/// logical order, because a few rows of a transposed matrix access all of its pages. 16 MiB;
/// thread-safe.
class PanelReader {
 public:
  void read(const DumpEntry& entry, ElementRange range, const ReadPlaces& read, void* to);

 private:
  void load(const DumpEntry& entry, std::int64_t first, std::int64_t count, const ReadPlaces& read);

  std::mutex mutex_;
  std::string path_;  // path of the panel's entry; empty without a panel
  std::int64_t first_ = 0;
  std::vector<std::byte> panel_;
};

}  // namespace opbench
