#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "dump/dump_types.h"
#include "tensor/elements.h"

namespace opbench {

/// Reads dumps in the layout that `DumpWriter` writes, of any origin, and trusts nothing in them.
/// Only plain (hard) links are followed and only data inside the file is read.
class DumpReader {
 public:
  /// Opens the file and lists what it holds; no tensor data is read.
  /// Errors: throws Error if the file is missing, is no HDF5 file, is damaged or holds no dump.
  explicit DumpReader(const std::filesystem::path& path);
  ~DumpReader();

  /// In the order of execution: by seq, as a number.
  const std::vector<DumpRecord>& records() const;

  /// What was left out because it fits no record, one line each. Entries have problems of their
  /// own.
  const std::vector<std::string>& problems() const;

  /// Logical elements of an entry in `entry.desc.dtype`. Data that was dumped in storage order with
  /// the strides of a permuted dense tensor (dumpers before August 2021) comes in logical order
  /// too. Errors: throws Error if the entry has a problem, the range leaves it or the data is
  /// damaged.
  void read(const DumpEntry& entry, ElementRange range, void* to);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace opbench
