#include <gmock/gmock.h>

#include <fstream>

#include "tests/dump/hostile_entry.h"

// Datasets whose types, extents or data are not what they should be.

namespace opbench::dump_tests {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class HostileData : public HostileEntry {};

TEST_F(HostileData, DatasetsOfAnotherType) {
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

TEST_F(HostileData, BigEndianDataIsRead) {
  type = H5::PredType::IEEE_F32BE;
  fill = [](H5::DataSet& dataset) {
    const float values[] = {1, 2, 3, 4, 5, 6};
    dataset.write(values, H5::PredType::NATIVE_FLOAT);
  };
  DumpReader opened = reader();
  EXPECT_THAT(read_as<float>(opened, entry(opened)), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST_F(HostileData, BytesKeepTheirBitsWhateverTheirSign) {
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

TEST_F(HostileData, ExtentsBeyondTheFile) {
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

TEST_F(HostileData, ExtentsThatDoNotMatchTheStoredBytes) {
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

TEST_F(HostileData, ChunksBeyondMemory) {
  const hsize_t chunk[] = {1 << 15, 1 << 13};
  properties.setChunk(2, chunk);
  extents = {1 << 15, 1 << 13};
  fill = nullptr;
  stride = {1 << 13, 1};
  EXPECT_EQ(problem(), "its chunks take 1073741824 bytes or more, at most 268435456 are allowed");
}

TEST_F(HostileData, ChunkedAndCompressedDataIsRead) {
  const hsize_t chunk[] = {1, 2};
  properties.setChunk(2, chunk);
  properties.setDeflate(1);
  DumpReader opened = reader();
  EXPECT_EQ(entry(opened).problem, "");
  EXPECT_EQ(read_as<float>(opened, entry(opened)), std::vector<float>(6));
}

TEST_F(HostileData, DataInOtherFilesIsNotRead) {
  fill = nullptr;
  properties.setExternal("/etc/passwd", 0, 24);
  EXPECT_EQ(problem(), "its data is in an external file");
  properties = H5::DSetCreatPropList();
  const H5::DataSpace space(2, extents.data());
  properties.setVirtual(space, "other.h5", "/op/1/output/good", space);
  EXPECT_EQ(problem(), "it is a virtual dataset, which points to other files");
}

TEST_F(HostileData, NullDataspace) {
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

TEST_F(HostileData, ScalarsMustBeScalars) {
  save_type = 5;
  EXPECT_EQ(problem(), "a scalar has the extents 2x3");
  save_type = 16;  // a list of numbers
  EXPECT_EQ(problem(), "");
}

TEST_F(HostileData, DataInStorageOrderComesInLogicalOrder) {  // dumps before August 2021
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

TEST_F(HostileData, LargeDataInStorageOrder) {  // spans several pieces of 256 Ki elements
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

}  // namespace
}  // namespace opbench::dump_tests
