#pragma once

#include <H5Cpp.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "dump/dump_file.h"
#include "dump/dump_writer.h"
#include "tensor/error.h"
#include "tests/support/temp_dir.h"

namespace opbench::dump_tests {

class DumpTest : public ::testing::Test, protected TempDir {
 protected:
  std::filesystem::path path(const std::string& name = "x.h5") const { return directory() / name; }
};

/// Elements with the bytes of small numbers, all different if the dtype has enough values.
std::vector<std::byte> numbered(DType dtype, std::int64_t count);

/// Storage of `desc` with dense `elements`. Every padding lane is NaN (or 0xff bytes).
Tensor stored(const TensorDesc& desc, const std::vector<std::byte>& elements);

/// Returns the inputs in the file's order.
std::vector<DumpEntry> inputs_of(const DumpRecord& record);
std::vector<DumpEntry> outputs_of(const DumpRecord& record);

/// Returns all elements in the entry's dtype.
std::vector<std::byte> read_all(DumpFile& reader, const DumpEntry& entry);

template <class T>
std::vector<T> read_as(DumpFile& reader, const DumpEntry& entry) {
  const std::vector<std::byte> elements = read_all(reader, entry);
  const auto* values = reinterpret_cast<const T*>(elements.data());
  return {values, values + elements.size() / sizeof(T)};
}

/// Returns the message of the Error that `work` throws, or a description of another result.
template <class Failure = Error, class Work>
std::string error_of(Work&& work) {
  try {
    work();
    return "(no error)";
  } catch (const Failure& error) {
    return error.what();
  }
}

}  // namespace opbench::dump_tests
