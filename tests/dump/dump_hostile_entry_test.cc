#include <gmock/gmock.h>

#include <fstream>
#include <functional>
#include <optional>

#include "tensor/half.h"
#include "tests/dump/dump_support.h"

// Datasets that say of themselves what is not so.

namespace opbench::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The dataset /op/1/input/x and its attributes, to be spoiled one at a time.
class HostileEntry : public DumpTest {
 protected:
  // A float32 tensor of 2 x 3, written by `make` and described by these attributes.
  H5::DataType type = H5::PredType::IEEE_F32LE;
  std::vector<hsize_t> extents = {2, 3};
  H5::DSetCreatPropList properties;
  std::function<void(H5::DataSet&)> fill = [](H5::DataSet& dataset) {
    const std::vector<float> zeros(6);
    dataset.write(zeros.data(), H5::PredType::NATIVE_FLOAT);
  };
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
  }

  DumpReader reader() {
    make();
    return DumpReader(path());
  }

  std::string problem() {
    const DumpReader opened = reader();
    const std::string prefix = path().string() + ": /op/1/input/x: ";
    const std::string& text = opened.records().at(0).inputs.at(0).problem;
    return text.starts_with(prefix) ? text.substr(prefix.size()) : text;
  }

  std::vector<std::uint8_t> bytes_read() {
    DumpReader opened = reader();
    return read_as<std::uint8_t>(opened, entry(opened));
  }

  static const DumpEntry& entry(DumpReader& reader) { return reader.records().at(0).inputs.at(0); }
};

TEST_F(HostileEntry, IsFineUnspoiled) { EXPECT_EQ(problem(), ""); }

TEST_F(HostileEntry, MissingAttributes) {
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

TEST_F(HostileEntry, AttributesOfAnotherType) {
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

TEST_F(HostileEntry, AttributesOfAnotherWidthAreRead) {  // numpy writes 64 bits
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

TEST_F(HostileEntry, NumbersOutOfRange) {
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

TEST_F(HostileEntry, UnknownDevicesAndFormatsDoNotMatter) {
  device = 9;
  format = 12;
  DumpReader opened = reader();
  EXPECT_EQ(entry(opened).problem, "");
  EXPECT_EQ(to_string(entry(opened).device), "device 9");
  EXPECT_EQ(entry(opened).format, std::nullopt);
}

TEST_F(HostileEntry, Strides) {
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

TEST_F(HostileEntry, DatasetsOfAnotherType) {
  data_type = 6;
  EXPECT_EQ(problem(),
            "its type is floating point of 32 bits, int32 is stored as integer of 32 bits");
  data_type = 11;
  EXPECT_EQ(problem(),
            "its type is floating point of 32 bits, fp64 is stored as floating point of 64 bits");
  data_type = 6;
  fill = nullptr;
  type = H5::PredType::STD_U32LE;
  EXPECT_EQ(problem(),
            "its type is unsigned integer of 32 bits, int32 is stored as integer of 32 bits");
  type = H5::StrType(H5::PredType::C_S1, H5T_VARIABLE);
  EXPECT_THAT(problem(), HasSubstr("its type is string of"));
  type = H5::VarLenType(H5::PredType::NATIVE_INT);
  EXPECT_THAT(problem(), HasSubstr("its type is variable length of"));
  save_type = 3;
  EXPECT_THAT(problem(), HasSubstr("its type is variable length of"));
}

TEST_F(HostileEntry, BigEndianDataIsRead) {
  type = H5::PredType::IEEE_F32BE;
  fill = [](H5::DataSet& dataset) {
    const float values[] = {1, 2, 3, 4, 5, 6};
    dataset.write(values, H5::PredType::NATIVE_FLOAT);
  };
  DumpReader opened = reader();
  EXPECT_THAT(read_as<float>(opened, entry(opened)), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST_F(HostileEntry, BytesKeepTheirBitsWhateverTheirSign) {
  const std::uint8_t bytes[] = {0, 1, 127, 128, 200, 255};
  for (const H5::PredType& stored : {H5::PredType::STD_I8LE, H5::PredType::STD_U8LE}) {
    const bool is_signed = stored == H5::PredType::STD_I8LE;
    type = stored;
    fill = [&](H5::DataSet& dataset) {
      dataset.write(bytes, is_signed ? H5::PredType::NATIVE_INT8 : H5::PredType::NATIVE_UINT8);
    };
    data_type = 2;
    EXPECT_THAT(bytes_read(), ::testing::ElementsAreArray(bytes));
    data_type = 9;
    EXPECT_THAT(bytes_read(), ElementsAre(0, 1, 1, 1, 1, 1));
  }
}

TEST_F(HostileEntry, ExtentsBeyondTheFile) {
  fill = nullptr;
  EXPECT_EQ(problem(), "no data was written");
  extents = {hsize_t{1} << 40, 1};
  EXPECT_EQ(problem(), "no data was written");
  properties.setLayout(H5D_CHUNKED);
  const hsize_t chunk[] = {1000, 1};
  properties.setChunk(2, chunk);
  extents = {hsize_t{1} << 40, hsize_t{1} << 40};
  EXPECT_THAT(problem(), HasSubstr("1099511627776x1099511627776"));
  DumpReader opened(path());
  float to[1];
  EXPECT_THAT(error_of([&] {
                opened.read(entry(opened), {0, 1}, to);
              }),
              HasSubstr("1099511627776x1099511627776"));
}

TEST_F(HostileEntry, ExtentsThatDoNotMatchTheStoredBytes) {
  const auto with_rows = [&](std::uint64_t rows) {
    make();
    std::fstream file(path(), std::ios::in | std::ios::out | std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    const std::uint64_t before[] = {2, 3};
    const std::string pattern(reinterpret_cast<const char*>(before), sizeof before);
    const std::size_t at = bytes.find(pattern);  // the extents, and after them their maxima
    for (const std::size_t place : {at, bytes.find(pattern, at + 1)}) {
      file.seekp(static_cast<std::streamoff>(place));
      file.write(reinterpret_cast<const char*>(&rows), sizeof rows);
    }
    file.close();
    const DumpReader opened(path());
    return opened.records().at(0).inputs.at(0).problem;
  };
  EXPECT_EQ(with_rows(2), "");
  EXPECT_THAT(with_rows(1), HasSubstr("3 elements of 4 bytes are declared, 24 bytes are stored"));
  EXPECT_THAT(with_rows(std::uint64_t{1} << 40),
              HasSubstr("3298534883328 elements of 4 bytes are declared, the file has"));
}

TEST_F(HostileEntry, ChunksBeyondMemory) {
  const hsize_t chunk[] = {1 << 15, 1 << 13};
  properties.setChunk(2, chunk);
  extents = {1 << 15, 1 << 13};
  fill = nullptr;
  stride = {1 << 13, 1};
  EXPECT_EQ(problem(), "its chunks take 1073741824 bytes or more, at most 268435456 are allowed");
}

TEST_F(HostileEntry, ChunkedAndCompressedDataIsRead) {
  const hsize_t chunk[] = {1, 2};
  properties.setChunk(2, chunk);
  properties.setDeflate(1);
  DumpReader opened = reader();
  EXPECT_EQ(entry(opened).problem, "");
  EXPECT_EQ(read_as<float>(opened, entry(opened)), std::vector<float>(6));
}

TEST_F(HostileEntry, DataInOtherFilesIsNotRead) {
  fill = nullptr;
  properties.setExternal("/etc/passwd", 0, 24);
  EXPECT_EQ(problem(), "its data is in an external file");
  properties = H5::DSetCreatPropList();
  const H5::DataSpace space(2, extents.data());
  properties.setVirtual(space, "other.h5", "/op/1/output/good", space);
  EXPECT_EQ(problem(), "it is a virtual dataset, which points to other files");
}

TEST_F(HostileEntry, NullDataspace) {
  make();
  {
    H5::H5File file(path().string(), H5F_ACC_RDWR);
    file.unlink("/op/1/input/x");
    H5::DataSet dataset =
        file.createDataSet("/op/1/input/x", H5::PredType::IEEE_F32LE, H5::DataSpace(H5S_NULL));
    set(dataset, "Type", 0);
    set(dataset, "DeviceType", 10);
    set(dataset, "DataType", 1);
  }
  const DumpReader opened(path());
  EXPECT_THAT(opened.records().at(0).inputs.at(0).problem, HasSubstr("it has no extents"));
}

TEST_F(HostileEntry, ScalarsMustBeScalars) {
  save_type = 5;
  EXPECT_EQ(problem(), "a scalar has the extents 2x3");
  save_type = 16;  // a list of numbers
  EXPECT_EQ(problem(), "");
}

TEST_F(HostileEntry, OurOwnAttributesAreNotTrustedEither) {
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

TEST_F(HostileEntry, HalfFromTheCpuIsDoubtful) {  // the original hands HDF5 16-bit data as 32-bit
  data_type = 10;
  device = 0;
  DumpReader opened = reader();
  EXPECT_EQ(entry(opened).warning, "fp16 from the CPU, which Ascend's dumper writes wrongly");
  EXPECT_EQ(read_as<half>(opened, entry(opened)).size(), 6u);
}

TEST_F(HostileEntry, DataInStorageOrderComesInLogicalOrder) {  // dumps before August 2021
  // Logical x[i][j][k] = 100 i + 10 j + k of shape 2x3x4, axes stored in the order k, i, j.
  extents = {2, 3, 4};
  stride = {3, 1, 6};
  fill = [](H5::DataSet& dataset) {
    std::vector<float> stored;
    for (int k = 0; k < 4; ++k) {
      for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 3; ++j) stored.push_back(static_cast<float>(100 * i + 10 * j + k));
      }
    }
    dataset.write(stored.data(), H5::PredType::NATIVE_FLOAT);
  };
  std::vector<float> logical;
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 3; ++j) {
      for (int k = 0; k < 4; ++k) logical.push_back(static_cast<float>(100 * i + 10 * j + k));
    }
  }
  for (const int number : {1, 10}) {
    data_type = number;
    DumpReader opened = reader();
    DumpEntry x = entry(opened);
    EXPECT_EQ(x.warning, "");
    x.desc.dtype = DType::fp32;  // as stored
    EXPECT_EQ(read_as<float>(opened, x), logical);
    std::vector<float> part(7);
    opened.read(x, {5, 7}, part.data());
    EXPECT_TRUE(std::equal(part.begin(), part.end(), logical.begin() + 5));
  }
}

TEST_F(HostileEntry, LargeDataInStorageOrder) {  // spans several pieces of 256 Ki elements
  extents = {1, 3, 500, 400};
  stride = {600'000, 1, 1200, 3};  // channels last
  fill = [](H5::DataSet& dataset) {
    std::vector<float> stored(600'000);
    for (std::size_t i = 0; i < stored.size(); ++i) {
      stored[i] = static_cast<float>((i % 3) * 200'000 + i / 3);
    }
    dataset.write(stored.data(), H5::PredType::NATIVE_FLOAT);
  };
  DumpReader opened = reader();
  const auto values = read_as<float>(opened, entry(opened));
  for (std::size_t i = 0; i < values.size(); i += 997) ASSERT_EQ(values[i], static_cast<float>(i));
}

TEST_F(HostileEntry, NotesOfAnyMake) {
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
}  // namespace opbench::testing
