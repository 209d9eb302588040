#include <gmock/gmock.h>

#include <fstream>

#include "tensor/half.h"
#include "tests/dump/dump_support.h"
#include "tests/support/program.h"

// Dumps as read by other programs. The expected values are those of the Ascend PyTorch 1.5 dumper:
// attribute names, types, spaces and numbers, and the types of its datasets.

namespace opbench::dump_tests {
namespace {

using ::testing::HasSubstr;

class DumpLayout : public DumpTest {
 protected:
  // Writes one record of the NPU with every dtype, a list and scalars.
  void write_sample() {
    DumpWriter writer(path());
    writer.begin_record("op", DeviceType::npu);
    for (const DType dtype : kAllDTypes) {
      const TensorDesc desc = describe(dtype, {2, 3});
      writer.write_input(name(dtype), desc, numbered(dtype, 6).data());
    }
    write_blocked(writer, "blocked");
    writer.write_output("list/list_0", describe(DType::fp32, {}), numbered(DType::fp32, 1).data());
    writer.write_output("empty", describe(DType::fp32, {0, 4}), nullptr);
    writer.write_input_scalar("alpha", 0.5);
    writer.write_input_scalar("dim", std::int64_t{-1});
    writer.write_input_scalar("training", true);
    writer.begin_record("op", DeviceType::cpu);
    write_blocked(writer, "blocked");
    writer.finish();
  }

  static void write_blocked(DumpWriter& writer, const char* name) {
    const TensorDesc desc = describe(DType::fp16, {1, 3, 1, 2}, Format::NC1HWC0);
    writer.write_input(name, desc, stored(desc, numbered(DType::fp16, 6)).data());
  }

  // Returns h5dump's text for one dataset, with attributes in the order of their creation in the
  // object header.
  std::string dumped(const std::string& dataset) {
    return shell("h5dump -d " + dataset + " " + path().string()).out;
  }
};

std::string attribute(const std::string& name, const std::string& type, const std::string& space,
                      const std::string& data) {
  return "   ATTRIBUTE \"" + name + "\" {\n      DATATYPE  " + type + "\n      DATASPACE  " +
         space + "\n      DATA {\n" + data + "      }\n   }\n";
}

std::string integer(const std::string& name, int value) {
  return attribute(name, "H5T_STD_I32LE", "SCALAR", "      (0): " + std::to_string(value) + "\n");
}

std::string strides(const std::string& count, const std::string& values) {
  return attribute("Stride", "H5T_STD_I64LE", "SIMPLE { ( " + count + " ) / ( " + count + " ) }",
                   values.empty() ? "" : "      (0): " + values + "\n");
}

std::string text(const std::string& name, const std::string& value) {
  return attribute(name,
                   "H5T_STRING {\n         STRSIZE " + std::to_string(value.size()) +
                       ";\n         STRPAD H5T_STR_NULLPAD;\n         CSET H5T_CSET_UTF8;\n"
                       "         CTYPE H5T_C_S1;\n      }",
                   "SCALAR", "      (0): \"" + value + "\"\n");
}

// h5dump lists attributes by name.
std::string numbers(int device, int data_type, int format, const std::string& stride,
                    const std::string& own = "") {
  return integer("DataType", data_type) + integer("DeviceType", device) +
         integer("FormatType", format) + stride + integer("Type", 0) + own;
}

TEST_F(DumpLayout, H5dumpSeesTheTypesOfTheOriginal) {
  if (!has_command("h5dump")) GTEST_SKIP() << "h5dump is not installed";
  write_sample();
  const struct {
    DType dtype;
    std::string type;
    int data_type;
  } expected[] = {
      {DType::fp32, "H5T_IEEE_F32LE", 1},  {DType::uint8, "H5T_STD_I8LE", 2},
      {DType::int8, "H5T_STD_I8LE", 3},    {DType::int16, "H5T_STD_I16LE", 5},
      {DType::int32, "H5T_STD_I32LE", 6},  {DType::int64, "H5T_STD_I64LE", 7},
      {DType::boolean, "H5T_STD_I8LE", 9}, {DType::fp16, "H5T_IEEE_F32LE", 10},
      {DType::fp64, "H5T_IEEE_F64LE", 11}, {DType::bf16, "H5T_IEEE_F32LE", 1},
      {DType::hif8, "H5T_IEEE_F32LE", 1},  {DType::int4, "H5T_STD_I8LE", 3},
  };
  for (const auto& [dtype, type, data_type] : expected) {
    SCOPED_TRACE(name(dtype));
    const std::string seen = dumped("/op/1/input/" + std::string(name(dtype)));
    EXPECT_THAT(seen, HasSubstr("   DATATYPE  " + type +
                                "\n   DATASPACE  SIMPLE { ( 2, 3 ) / ( 2, 3 ) }\n   DATA {\n"));
    const bool is_marked = dtype == DType::bf16 || dtype > DType::boolean;
    const std::string own = is_marked ? text("opbench_dtype", std::string(name(dtype))) : "";
    EXPECT_THAT(seen, HasSubstr("\n   }\n" + numbers(10, data_type, 2, strides("2", "3, 1"), own) +
                                "}\n}\n"));
  }
}

TEST_F(DumpLayout, H5dumpSeesPrivateFormats) {
  if (!has_command("h5dump")) GTEST_SKIP() << "h5dump is not installed";
  write_sample();
  const std::string data =
      "   DATASPACE  SIMPLE { ( 1, 3, 1, 2 ) / ( 1, 3, 1, 2 ) }\n   DATA {\n"
      "   (0,0,0,0): -10, -9,\n   (0,1,0,0): -8, -7,\n   (0,2,0,0): -6, -5\n   }\n";
  const std::string stride = strides("4", "6, 2, 2, 1");
  const std::string format = text("opbench_format", "NC1HWC0");
  EXPECT_THAT(dumped("/op/1/input/blocked"),
              HasSubstr(data + numbers(10, 10, 3, stride, format) + "}\n}\n"));
  EXPECT_THAT(dumped("/op/2/input/blocked"),
              HasSubstr(data + numbers(0, 10, 0, stride, text("opbench_dtype", "fp16") + format) +
                        "}\n}\n"));
}

TEST_F(DumpLayout, H5dumpSeesScalarsAndEmptyTensors) {
  if (!has_command("h5dump")) GTEST_SKIP() << "h5dump is not installed";
  write_sample();
  const auto scalar = [](const std::string& type, const std::string& value) {
    return "   DATATYPE  " + type + "\n   DATASPACE  SCALAR\n   DATA {\n   (0): " + value +
           "\n   }\n" + integer("Type", 7) + "}\n}\n";
  };
  EXPECT_THAT(dumped("/op/1/input/alpha"), HasSubstr(scalar("H5T_IEEE_F64LE", "0.5")));
  EXPECT_THAT(dumped("/op/1/input/dim"), HasSubstr(scalar("H5T_STD_I64LE", "-1")));
  EXPECT_THAT(dumped("/op/1/input/training"), HasSubstr(scalar("H5T_STD_I8LE", "1")));
  EXPECT_THAT(dumped("/op/1/output/list/list_0"),
              HasSubstr("   DATASPACE  SCALAR\n   DATA {\n   (0): -10\n   }\n" +
                        numbers(10, 1, 2, strides("0", "")) + "}\n}\n"));
  EXPECT_THAT(dumped("/op/1/output/empty"),
              HasSubstr("   DATASPACE  SIMPLE { ( 0, 4 ) / ( 0, 4 ) }\n   DATA {\n   }\n" +
                        numbers(10, 1, 2, strides("2", "4, 1")) + "}\n}\n"));
}

TEST_F(DumpLayout, DataIsContiguousAndCreationOrderUntracked) {
  write_sample();
  const H5::H5File file(path().string(), H5F_ACC_RDONLY);
  const H5::DataSet dataset = file.openDataSet("/op/1/input/fp32");
  const H5::DSetCreatPropList properties = dataset.getCreatePlist();
  EXPECT_EQ(properties.getLayout(), H5D_CONTIGUOUS);
  unsigned flags = 1;
  ASSERT_GE(H5Pget_attr_creation_order(properties.getId(), &flags), 0);
  EXPECT_EQ(flags, 0u);
  // The order is not tracked, but the object header keeps attributes in creation order.
  std::vector<std::string> names;
  for (unsigned i = 0; i < 5; ++i) {
    char name[32];
    ASSERT_GE(H5Aget_name_by_idx(dataset.getId(), ".", H5_INDEX_CRT_ORDER, H5_ITER_NATIVE, i, name,
                                 sizeof name, H5P_DEFAULT),
              0);
    names.emplace_back(name);
  }
  EXPECT_THAT(names,
              ::testing::ElementsAre("DeviceType", "DataType", "FormatType", "Type", "Stride"));
}

// msaccucmp does not find objects below a group with attributes.
TEST_F(DumpLayout, NotesStandOnEveryDatasetAndOnNoGroup) {
  DumpWriter writer(path());
  writer.begin_record("op", DeviceType::npu,
                      {{"opbench_case", "op[1]"}, {"opbench_task", "first"}});
  writer.write_input("list/list_0", describe(DType::fp32, {1}), numbered(DType::fp32, 1).data());
  writer.write_input_scalar("alpha", 0.5);
  writer.write_output("r", describe(DType::fp32, {1}), numbered(DType::fp32, 1).data());
  writer.begin_record("op", DeviceType::npu);
  writer.write_output("r", describe(DType::fp32, {1}), numbered(DType::fp32, 1).data());
  writer.finish();
  const H5::H5File file(path().string(), H5F_ACC_RDONLY);
  for (const char* group :
       {"/", "/op", "/op/1", "/op/1/input", "/op/1/input/list", "/op/1/output", "/op/2"}) {
    EXPECT_EQ(file.openGroup(group).getNumAttrs(), 0) << group;
  }
  for (const char* name : {"input/list/list_0", "input/alpha", "output/r"}) {
    const H5::DataSet dataset = file.openDataSet("/op/1/" + std::string(name));
    std::string text;
    const H5::Attribute note = dataset.openAttribute("opbench_case");
    note.read(note.getDataType(), text);
    EXPECT_EQ(text, "op[1]") << name;
    EXPECT_TRUE(dataset.attrExists("opbench_task")) << name;
  }
  EXPECT_FALSE(file.openDataSet("/op/2/output/r").attrExists("opbench_case"));
}

TEST_F(DumpLayout, H5pyReadsWhatWasWritten) {
  write_sample();
  std::ofstream(path("read.py")) << R"(
import sys, h5py
def show(name, item):
    if isinstance(item, h5py.Dataset):
        attributes = {k: v.tolist() if hasattr(v, "tolist") else v for k, v in item.attrs.items()}
        print(name, item.dtype, item.shape, item[()].tolist(), dict(sorted(attributes.items())))
file = h5py.File(sys.argv[1], "r")
file["op/1"].visititems(show)
)";
  const std::string common = "'FormatType': 2, 'Stride': [3, 1], 'Type': 0";
  const std::string values = "[[-10.0, -9.0, -8.0], [-7.0, -6.0, -5.0]] ";
  const std::string integers = "[[-10, -9, -8], [-7, -6, -5]] ";
  const auto attributes = [&](int data_type) {
    return "{'DataType': " + std::to_string(data_type) + ", 'DeviceType': 10, " + common;
  };
  EXPECT_EQ(
      shell("/usr/bin/python3 " + path("read.py").string() + " " + path().string()).out,
      "input/alpha float64 () 0.5 {'Type': 7}\n"
      "input/bf16 float32 (2, 3) " +
          values + attributes(1) +
          ", 'opbench_dtype': b'bf16'}\n"
          "input/blocked float32 (1, 3, 1, 2) [[[[-10.0, -9.0]], [[-8.0, -7.0]], [[-6.0, -5.0]]]] "
          "{'DataType': 10, 'DeviceType': 10, 'FormatType': 3, 'Stride': [6, 2, 2, 1], 'Type': 0, "
          "'opbench_format': b'NC1HWC0'}\n"
          "input/bool int8 (2, 3) [[1, 0, 0], [1, 0, 0]] " +
          attributes(9) +
          "}\n"
          "input/dim int64 () -1 {'Type': 7}\n"
          "input/e8m0 float32 (2, 3) [[8.0, 8.0, 8.0], [8.0, 8.0, 4.0]] " +
          attributes(1) +
          ", 'opbench_dtype': b'e8m0'}\n"
          "input/fp16 float32 (2, 3) " +
          values + attributes(10) +
          "}\n"
          "input/fp32 float32 (2, 3) " +
          values + attributes(1) +
          "}\n"
          "input/fp64 float64 (2, 3) " +
          values + attributes(11) +
          "}\n"
          "input/fp8_e4m3fn float32 (2, 3) " +
          values + attributes(1) +
          ", 'opbench_dtype': b'fp8_e4m3fn'}\n"
          "input/fp8_e5m2 float32 (2, 3) [[-10.0, -8.0, -8.0], [-7.0, -6.0, -5.0]] " +
          attributes(1) +
          ", 'opbench_dtype': b'fp8_e5m2'}\n"
          "input/hif8 float32 (2, 3) " +
          values + attributes(1) +
          ", 'opbench_dtype': b'hif8'}\n"
          "input/int16 int16 (2, 3) " +
          integers + attributes(5) +
          "}\n"
          "input/int32 int32 (2, 3) " +
          integers + attributes(6) +
          "}\n"
          "input/int4 int8 (2, 3) [[-8, -8, -8], [-7, -6, -5]] " +
          attributes(3) +
          ", 'opbench_dtype': b'int4'}\n"
          "input/int64 int64 (2, 3) " +
          integers + attributes(7) +
          "}\n"
          "input/int8 int8 (2, 3) " +
          integers + attributes(3) +
          "}\n"
          "input/training int8 () 1 {'Type': 7}\n"
          "input/uint8 int8 (2, 3) [[0, 1, 2], [3, 4, 5]] " +
          attributes(2) +
          "}\n"
          "output/empty float32 (0, 4) [] {'DataType': 1, 'DeviceType': 10, 'FormatType': 2, "
          "'Stride': [4, 1], 'Type': 0}\n"
          "output/list/list_0 float32 () -10.0 {'DataType': 1, 'DeviceType': 10, 'FormatType': 2, "
          "'Stride': [], 'Type': 0}\n");
}

}  // namespace
}  // namespace opbench::dump_tests
