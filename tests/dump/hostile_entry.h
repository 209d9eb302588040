#pragma once

#include <H5Cpp.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tests/dump/dump_support.h"

namespace opbench::dump_tests {

// The dataset /op/1/input/x and its attributes, which tests change one at a time.
class HostileEntry : public DumpTest {
 protected:
  // A float32 tensor of 2 x 3, written by `make` with these attributes.
  H5::DataType type = H5::PredType::IEEE_F32LE;
  std::vector<hsize_t> extents = {2, 3};
  H5::DSetCreatPropList properties;
  std::function<void(H5::DataSet&)> fill = [](H5::DataSet& dataset) {
    const std::vector<float> zeros(6);
    dataset.write(zeros.data(), H5::PredType::NATIVE_FLOAT);
  };
  std::function<void(H5::DataSet&)> add;  // further attributes
  std::optional<int> device = 10, data_type = 1, format = 0, save_type = 0;
  std::optional<std::vector<std::int64_t>> stride = std::vector<std::int64_t>{3, 1};

  static void set(const H5::H5Object& object, const char* name, std::optional<int> value) {
    if (!value) return;
    object.createAttribute(name, H5::PredType::STD_I32LE, H5::DataSpace(H5S_SCALAR))
        .write(H5::PredType::NATIVE_INT, &*value);
  }

  static void set_text(const H5::H5Object& object, const char* name, const std::string& value) {
    const H5::StrType text(H5::PredType::C_S1, value.size());
    object.createAttribute(name, text, H5::DataSpace(H5S_SCALAR)).write(text, value);
  }

  void make() {
    H5::H5File file(path().string(), H5F_ACC_TRUNC);
    for (const char* group : {"/op", "/op/1", "/op/1/input"}) file.createGroup(group);
    const H5::DataSpace space(static_cast<int>(extents.size()), extents.data());
    H5::DataSet dataset = file.createDataSet("/op/1/input/x", type, space, properties);
    set(dataset, "DeviceType", device);
    set(dataset, "DataType", data_type);
    set(dataset, "FormatType", format);
    set(dataset, "Type", save_type);
    if (stride) {
      const hsize_t count = stride->size();
      dataset.createAttribute("Stride", H5::PredType::STD_I64LE, H5::DataSpace(1, &count))
          .write(H5::PredType::NATIVE_INT64, stride->data());
    }
    if (fill) fill(dataset);
    if (add) add(dataset);
  }

  DumpFile reader() {
    make();
    return DumpFile(path());
  }

  std::string problem() {
    DumpFile opened = reader();
    return inputs_of(opened.records().at(0)).at(0).problem;
  }

  // Returns the warning of an entry that can be read.
  std::string remarks() {
    DumpFile opened = reader();
    EXPECT_EQ(entry(opened).problem, "");
    return entry(opened).warning;
  }

  EntryKind kind() {
    DumpFile opened = reader();
    return entry(opened).kind;
  }

  std::vector<std::uint8_t> bytes_read() {
    DumpFile opened = reader();
    return read_as<std::uint8_t>(opened, entry(opened));
  }

  static DumpEntry entry(DumpFile& reader) { return inputs_of(reader.records().at(0)).at(0); }
};

}  // namespace opbench::dump_tests
