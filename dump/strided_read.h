#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "dump/dump_types.h"
#include "tensor/elements.h"

namespace opbench {

/// Gives stored elements by their places, one after the other.
using ReadPlaces = std::function<void(ElementRange places, void* to)>;

/// Reads elements `range`, in the logical order of `shape`, of data that lies in another order:
/// element [i, j, ..] at place i*strides[0] + j*strides[1] + .., every place inside the data, no
/// stride negative. Asks `read` only for what is needed, and for gaps that cost less than another
/// call. Memory: a few MiB.
void read_strided(const Dims& shape, const Dims& strides, ElementRange range,
                  std::size_t element_bytes, const ReadPlaces& read, void* to);

/// The same for ranges that follow one another: keeps a panel of the last tensor in logical order,
/// because a few rows of a transposed matrix touch every page of it. 16 MiB; thread-safe.
class PanelReader {
 public:
  void read(const DumpEntry& entry, ElementRange range, const ReadPlaces& read, void* to);

 private:
  void load(const DumpEntry& entry, std::int64_t first, std::int64_t count, const ReadPlaces& read);

  std::mutex mutex_;
  std::string path_;  // of the entry that the panel is part of; empty if it is none
  std::int64_t first_ = 0;
  std::vector<std::byte> panel_;
};

}  // namespace opbench
