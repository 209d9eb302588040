#include <gmock/gmock.h>

#include "tensor/half.h"
#include "tests/dump/hostile_entry.h"

// Datasets with wrong attributes.

namespace opbench::dump_tests {
namespace {

using ::testing::HasSubstr;

class HostileAttributes : public HostileEntry {};

TEST_F(HostileAttributes, IsFineUnspoiled) { EXPECT_EQ(problem(), ""); }

TEST_F(HostileAttributes, MissingAttributes) {
  stride.reset();
  format.reset();
  device.reset();
  EXPECT_EQ(remarks(), "");
  data_type.reset();
  EXPECT_EQ(remarks(), "no attribute DataType; the values are taken as fp32");
  device = 10;
  save_type.reset();  // the original dumper does so for unknown dtypes
  EXPECT_EQ(problem(),
            "no attribute Type: Ascend's dumper omits it for dtypes that it does not "
            "support (bf16, complex, quantised)");
  EXPECT_EQ(kind(), EntryKind::tensor);
  device.reset();
  EXPECT_EQ(remarks(),
            "no attributes; taken as a tensor; no attribute DataType; the values are "
            "taken as fp32");
  EXPECT_EQ(kind(), EntryKind::tensor);
}

TEST_F(HostileAttributes, AttributesOfAnotherType) {
  data_type.reset();
  const std::string wrong =
      "attribute DataType is not one whole number; no attribute DataType; the "
      "values are taken as fp32";
  add = [](H5::DataSet& dataset) { set_text(dataset, "DataType", "float"); };
  EXPECT_EQ(remarks(), wrong);
  add = [](H5::DataSet& dataset) {
    const float one = 1;
    dataset.createAttribute("DataType", H5::PredType::IEEE_F32LE, H5::DataSpace(H5S_SCALAR))
        .write(H5::PredType::NATIVE_FLOAT, &one);
  };
  EXPECT_EQ(remarks(), wrong);
  add = [](H5::DataSet& dataset) {
    const hsize_t two = 2;
    const int numbers[] = {1, 1};
    dataset.createAttribute("DataType", H5::PredType::STD_I32LE, H5::DataSpace(1, &two))
        .write(H5::PredType::NATIVE_INT, numbers);
  };
  EXPECT_EQ(remarks(), wrong);
  add = [](H5::DataSet& dataset) {
    dataset.createAttribute("DataType", H5::PredType::STD_I32LE, H5::DataSpace(H5S_NULL));
  };
  EXPECT_EQ(remarks(), wrong);
}

TEST_F(HostileAttributes, AttributesOfAnotherWidthAreRead) {  // numpy writes 64 bits
  data_type.reset();
  std::int64_t number = 1;
  add = [&](H5::DataSet& dataset) {
    const hsize_t one = 1;
    dataset.createAttribute("DataType", H5::PredType::STD_I64BE, H5::DataSpace(1, &one))
        .write(H5::PredType::NATIVE_INT64, &number);
  };
  EXPECT_EQ(remarks(), "");
  number = (std::int64_t{1} << 32) + 1;
  EXPECT_EQ(remarks(),
            "attribute DataType is 4294967297 (unknown), which is not supported; the "
            "values are taken as fp32");
}

TEST_F(HostileAttributes, DataTypesThatAreNotSupportedAreNamed) {
  const std::pair<int, const char*> kNumbers[] = {
      {4, "4 (uint16)"},          {13, "13 (uint64)"},
      {17, "17 (float8_e4m3fn)"}, {20, "20 (float8_e5m2fnuz)"},
      {22, "22 (int4)"},          {-1, "-1 (unknown)"},
      {99, "99 (unknown)"}};
  for (const auto& [number, text] : kNumbers) {
    data_type = number;
    EXPECT_EQ(remarks(), std::string("attribute DataType is ") + text +
                             ", which is not supported; the values are taken as fp32");
  }
  data_type = 16;
  EXPECT_EQ(remarks(), "");
  DumpFile opened = reader();
  EXPECT_EQ(entry(opened).desc.dtype, DType::bf16);
}

TEST_F(HostileAttributes, NumbersThatStandForOthersAreNotRead) {
  const std::string allowed =
      " is not supported; allowed as attribute DataType are 1 float, 2 uint8, 3 int8, 5 int16, 6 "
      "int32, 7 int64, 9 bool, 10 float16, 11 double, and 16 bfloat16 stored as floating point";
  data_type = 14;
  EXPECT_EQ(problem(), "complex64 stored as float32" + allowed);
  data_type = 8;
  EXPECT_EQ(problem(), "string stored as float32" + allowed);
  type = H5::PredType::STD_U16LE;
  data_type = 16;
  EXPECT_EQ(problem(), "bfloat16 stored as uint16" + allowed);
  type = H5::PredType::STD_U8LE;
  data_type = 19;
  EXPECT_EQ(problem(), "float8_e5m2 stored as uint8" + allowed);
}

TEST_F(HostileAttributes, TensorsWithoutAType) {
  save_type.reset();
  EXPECT_EQ(remarks(), "no attribute Type; taken as a tensor");
  EXPECT_EQ(kind(), EntryKind::tensor);
  add = [](H5::DataSet& dataset) { set_text(dataset, "Type", "tensor"); };
  EXPECT_EQ(remarks(),
            "attribute Type is not one whole number; no attribute Type; taken as a tensor");
  EXPECT_EQ(kind(), EntryKind::tensor);
}

TEST_F(HostileAttributes, TensorOptionsHoldNoData) {
  save_type = 18;
  fill = nullptr;
  EXPECT_EQ(problem(), "");
  EXPECT_EQ(kind(), EntryKind::other);
}

TEST_F(HostileAttributes, TypesThatStandForNothing) {
  for (const int number : {-1, 1, 8, 11, 12, 19, 42}) {
    save_type = number;
    EXPECT_EQ(remarks(), "attribute Type is " + std::to_string(number) +
                             ", which has no meaning; known are 0 (tensor), 2 to 7, 9, 10 and "
                             "13 to 18; taken as a tensor");
    EXPECT_EQ(kind(), EntryKind::tensor);
  }
}

TEST_F(HostileAttributes, UnknownDevicesAndFormatsDoNotMatter) {
  device = 9;
  format = 12;
  DumpFile opened = reader();
  EXPECT_EQ(entry(opened).problem, "");
  EXPECT_EQ(to_string(entry(opened).device), "device 9");
  EXPECT_EQ(entry(opened).format, std::nullopt);
}

// msaccucmp's rule, with all addresses inside the data.
TEST_F(HostileAttributes, StridesThatDoNotFit) {
  device = 1;
  using Numbers = std::vector<std::int64_t>;
  for (const Numbers& strange :
       {Numbers{3}, {3, 1, 1}, {-3, -1}, {INT64_MAX, 1}, {INT64_MIN, 1}, {4, 1}, {3, 2}}) {
    stride = strange;
    DumpFile opened = reader();
    EXPECT_EQ(entry(opened).problem, "");
    EXPECT_THAT(entry(opened).warning,
                HasSubstr("which does not fit shape 2x3; row-major order is assumed"));
    EXPECT_FALSE(entry(opened).is_strided);
    EXPECT_EQ(read_as<float>(opened, entry(opened)).size(), 6u);
  }
  device = 10;
  EXPECT_EQ(remarks(), "");
}

TEST_F(HostileAttributes, OurOwnAttributesAreNotTrustedEither) {
  const auto marked = [&](const char* name, const std::string& value) {
    add = [=](H5::DataSet& dataset) { set_text(dataset, name, value); };
    return remarks();
  };
  EXPECT_EQ(marked("opbench_dtype", "bf16"), "");
  EXPECT_THAT(marked("opbench_dtype", "float17"), HasSubstr("attribute opbench_dtype: "));
  EXPECT_EQ(marked("opbench_format", "NC1HWC0"), "");
  EXPECT_EQ(marked("opbench_format", "NCXYZ"), "");
  DumpFile opened(path());
  EXPECT_EQ(entry(opened).format, std::nullopt);
}

TEST_F(HostileAttributes,
       HalfFromTheCpuIsDoubtful) {  // the original passes 16-bit data to HDF5 as 32-bit
  data_type = 10;
  device = 0;
  DumpFile opened = reader();
  EXPECT_EQ(entry(opened).warning, "fp16 from the CPU, which Ascend's dumper writes wrongly");
  EXPECT_EQ(read_as<half>(opened, entry(opened)).size(), 6u);
}

// Unknown attributes are not notes, and neither is an attribute with a note's name that is not a
// text.
TEST_F(HostileAttributes, NotesOnADataset) {
  add = [](H5::DataSet& dataset) {
    set(dataset, "RequiresGrad", 1);
    set_text(dataset, "author", "somebody");
    set_text(dataset, "opbench_task", "conv");
    set(dataset, "opbench_case", 5);
  };
  DumpFile opened = reader();
  EXPECT_EQ(opened.records().at(0).notes, std::vector<Note>({{"opbench_task", "conv"}}));
  EXPECT_TRUE(opened.problems().empty());
}

TEST_F(HostileAttributes, NotesOfOlderDumpsStandOnTheGroup) {
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
  DumpFile opened(path());
  EXPECT_THAT(opened.records().at(0).notes,
              ::testing::UnorderedElementsAre(Note{"fixed", "abc"}, Note{"empty", ""},
                                              Note{"padded", "ab"}));
  EXPECT_TRUE(opened.problems().empty());
}

}  // namespace
}  // namespace opbench::dump_tests
