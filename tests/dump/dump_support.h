#pragma once

#include <H5Cpp.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "dump/dump_reader.h"
#include "dump/dump_writer.h"
#include "tensor/error.h"

namespace opbench::dump_tests {

/// A directory of its own for each test, empty at the start and gone at the end.
class DumpTest : public ::testing::Test {
 protected:
  DumpTest();
  ~DumpTest() override;

  std::filesystem::path path(const std::string& name = "x.h5") const { return directory_ / name; }
  std::vector<std::string> files() const;

  std::filesystem::path directory_;
};

/// Elements with the byte pattern of small numbers, different from one another where the dtype
/// allows.
std::vector<std::byte> numbered(DType dtype, std::int64_t count);

/// Storage of `desc` that holds dense `elements`; every padding lane is a NaN (or 0xff bytes).
Tensor stored(const TensorDesc& desc, const std::vector<std::byte>& elements);

std::vector<std::byte> read_all(DumpReader& reader, const DumpEntry& entry);

template <class T>
std::vector<T> read_as(DumpReader& reader, const DumpEntry& entry) {
  std::vector<T> values(static_cast<std::size_t>(entry.desc.elements()) + 1);
  reader.read(entry, {0, entry.desc.elements()}, values.data());
  values.pop_back();
  return values;
}

/// The message of the Error that `work` throws; what else happened in its place.
template <class Failure = Error, class Work>
std::string error_of(Work&& work) {
  try {
    work();
    return "(no error)";
  } catch (const Failure& error) {
    return error.what();
  }
}

/// What a shell command prints, standard error included.
std::string output_of(const std::string& command);
bool succeeds(const std::string& command);

}  // namespace opbench::dump_tests
