#include <gmock/gmock.h>

#include "tensor/half.h"
#include "tests/dump/hostile_entry.h"

// Datasets whose attributes say what is not so.

namespace opbench::dump_tests {
namespace {

using ::testing::HasSubstr;

class HostileAttributes : public HostileEntry {};

TEST_F(HostileAttributes, IsFineUnspoiled) { EXPECT_EQ(problem(), ""); }

TEST_F(HostileAttributes, MissingAttributes) {
  stride.reset();
  EXPECT_EQ(problem(), "attribute Stride is missing, must be 2 integers");
  format.reset();
  EXPECT_EQ(problem(), "attribute FormatType is missing, must be 1 integer");
  data_type.reset();
  EXPECT_EQ(problem(), "attribute DataType is missing, must be 1 integer");
  device.reset();
  EXPECT_EQ(problem(), "attribute DeviceType is missing, must be 1 integer");
  save_type.reset();  // so the original leaves dtypes that it does not know
  EXPECT_EQ(problem(), "attribute Type is missing, must be 1 integer");
}

TEST_F(HostileAttributes, AttributesOfAnotherType) {
  data_type.reset();
  fill = [](H5::DataSet& dataset) { set_text(dataset, "DataType", "float"); };
  EXPECT_EQ(problem(), "attribute DataType is of type string, must be 1 integer");
  fill = [](H5::DataSet& dataset) {
    const float one = 1;
    dataset.createAttribute("DataType", H5::PredType::IEEE_F32LE, H5::DataSpace(H5S_SCALAR))
        .write(H5::PredType::NATIVE_FLOAT, &one);
  };
  EXPECT_EQ(problem(), "attribute DataType is of type floating point, must be 1 integer");
  fill = [](H5::DataSet& dataset) {
    const hsize_t two = 2;
    const int numbers[] = {1, 1};
    dataset.createAttribute("DataType", H5::PredType::STD_I32LE, H5::DataSpace(1, &two))
        .write(H5::PredType::NATIVE_INT, numbers);
  };
  EXPECT_EQ(problem(), "attribute DataType has 2 elements, must be 1 integer");
  fill = [](H5::DataSet& dataset) {
    dataset.createAttribute("DataType", H5::PredType::STD_I32LE, H5::DataSpace(H5S_NULL));
  };
  EXPECT_EQ(problem(), "attribute DataType has 0 elements, must be 1 integer");
}

TEST_F(HostileAttributes, AttributesOfAnotherWidthAreRead) {  // numpy writes 64 bits
  data_type.reset();
  std::int64_t number = 1;
  fill = [&](H5::DataSet& dataset) {
    const hsize_t one = 1;
    dataset.createAttribute("DataType", H5::PredType::STD_I64BE, H5::DataSpace(1, &one))
        .write(H5::PredType::NATIVE_INT64, &number);
    dataset.write(std::vector<float>(6).data(), H5::PredType::NATIVE_FLOAT);
  };
  EXPECT_EQ(problem(), "");
  number = (std::int64_t{1} << 32) + 1;
  EXPECT_EQ(problem(), "attribute DataType is 4294967297, must fit into 32 bits");
}

TEST_F(HostileAttributes, NumbersOutOfRange) {
  data_type = 4;
  EXPECT_EQ(problem(), "attribute DataType is 4, must be one of 1 2 3 5 6 7 9 10 11");
  data_type = -1;
  EXPECT_EQ(problem(), "attribute DataType is -1, must be one of 1 2 3 5 6 7 9 10 11");
  data_type = 1;
  for (const int number : {-1, 1, 8, 11, 12, 19, 42}) {
    save_type = number;
    EXPECT_EQ(problem(),
              "attribute Type is " + std::to_string(number) + ", must be one of 0 2-7 9 10 13-18");
  }
}

TEST_F(HostileAttributes, UnknownDevicesAndFormatsDoNotMatter) {
  device = 9;
  format = 12;
  DumpReader opened = reader();
  EXPECT_EQ(entry(opened).problem, "");
  EXPECT_EQ(to_string(entry(opened).device), "device 9");
  EXPECT_EQ(entry(opened).format, std::nullopt);
}

TEST_F(HostileAttributes, Strides) {
  stride = {3};
  EXPECT_EQ(problem(), "attribute Stride has 1 elements, must be 2 integers");
  stride = {3, 1, 1};
  EXPECT_EQ(problem(), "attribute Stride has 3 elements, must be 2 integers");
  for (const auto& strange : {std::vector<std::int64_t>{0, 1}, {-3, -1}, {INT64_MAX, 1}, {2, 1}}) {
    stride = strange;
    DumpReader opened = reader();
    EXPECT_EQ(entry(opened).problem, "");
    EXPECT_THAT(entry(opened).warning,
                HasSubstr("fits no dense tensor of shape 2x3, row-major is assumed"));
    EXPECT_EQ(read_as<float>(opened, entry(opened)).size(), 6u);
  }
}

TEST_F(HostileAttributes, OurOwnAttributesAreNotTrustedEither) {
  const auto marked = [&](const char* name, const std::string& value) {
    fill = [=](H5::DataSet& dataset) {
      dataset.write(std::vector<float>(6).data(), H5::PredType::NATIVE_FLOAT);
      set_text(dataset, name, value);
    };
    return problem();
  };
  EXPECT_EQ(marked("opbench_dtype", "bf16"), "");
  EXPECT_EQ(marked("opbench_dtype", "fp64"),
            "attribute opbench_dtype is fp64, which DataType 1 contradicts");
  EXPECT_NE(marked("opbench_dtype", "float17"), "");
  EXPECT_EQ(marked("opbench_format", "NC1HWC0"), "");
  EXPECT_NE(marked("opbench_format", "NCXYZ"), "");
  fill = [](H5::DataSet& dataset) { set(dataset, "opbench_format", 3); };
  EXPECT_EQ(problem(),
            "attribute opbench_format is of type integer, must be one string of fixed length");
}

TEST_F(HostileAttributes,
       HalfFromTheCpuIsDoubtful) {  // the original hands HDF5 16-bit data as 32-bit
  data_type = 10;
  device = 0;
  DumpReader opened = reader();
  EXPECT_EQ(entry(opened).warning, "fp16 from the CPU, which Ascend's dumper writes wrongly");
  EXPECT_EQ(read_as<half>(opened, entry(opened)).size(), 6u);
}

TEST_F(HostileAttributes, NotesOfAnyMake) {
  make();
  {
    H5::H5File file(path().string(), H5F_ACC_RDWR);
    const H5::Group record = file.openGroup("/op/1");
    set_text(record, "fixed", "abc");
    set(record, "number", 5);
    const H5::StrType text(H5::PredType::C_S1, H5T_VARIABLE);
    record.createAttribute("variable", text, H5::DataSpace(H5S_SCALAR))
        .write(text, std::string("x"));
    set_text(record, "empty", std::string(1, '\0'));
    const hsize_t two = 2;
    record.createAttribute("several", text, H5::DataSpace(1, &two));
    record.createAttribute("none", text, H5::DataSpace(H5S_NULL));
    H5::StrType padded(H5::PredType::C_S1, 5);
    padded.setStrpad(H5T_STR_SPACEPAD);
    record.createAttribute("padded", padded, H5::DataSpace(H5S_SCALAR)).write(padded, "ab   ");
  }
  const DumpReader opened(path());
  EXPECT_THAT(opened.records().at(0).notes,
              ::testing::UnorderedElementsAre(Note{"fixed", "abc"}, Note{"empty", ""},
                                              Note{"padded", "ab"}));
  EXPECT_TRUE(opened.problems().empty());
}

}  // namespace
}  // namespace opbench::dump_tests
