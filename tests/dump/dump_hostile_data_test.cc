#include <gmock/gmock.h>

#include <fstream>

#include "tests/dump/hostile_entry.h"

// Datasets with unexpected types, extents or data.

namespace opbench::dump_tests {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class HostileData : public HostileEntry {};

TEST_F(HostileData, DataThatIsNoNumbers) {
  fill = nullptr;
  const std::string allowed =
      "; allowed are integers of 8 to 64 bits, IEEE floating point of 16, 32 and 64 bits, and "
      "booleans";
  type = H5::StrType(H5::PredType::C_S1, 16);
  EXPECT_EQ(problem(), "its type is string of 128 bits" + allowed);
  type = H5::StrType(H5::PredType::C_S1, H5T_VARIABLE);
  EXPECT_THAT(problem(), HasSubstr("its type is string of"));
  type = H5::VarLenType(H5::PredType::NATIVE_INT);
  EXPECT_THAT(problem(), HasSubstr("its type is variable length of"));
  type = H5::PredType::STD_REF_OBJ;
  EXPECT_EQ(problem(), "its type is reference of 64 bits" + allowed);
  H5::CompType complex(std::size_t{8});
  complex.insertMember("r", 0, H5::PredType::NATIVE_FLOAT);
  complex.insertMember("i", 4, H5::PredType::NATIVE_FLOAT);
  type = complex;
  EXPECT_EQ(problem(), "its type is compound of 64 bits" + allowed);
  H5::FloatType bfloat16(H5::PredType::IEEE_F32LE);  // the upper half of a float32
  bfloat16.setFields(15, 7, 8, 0, 7);
  bfloat16.setPrecision(16);
  bfloat16.setSize(2);
  type = bfloat16;
  EXPECT_EQ(problem(), "its type is floating point of 16 bits" + allowed);
}

// Only the attribute defines the meaning of the elements.
TEST_F(HostileData, AnyNumbersAreReadAsTheyAreStored) {
  data_type = 6;
  EXPECT_EQ(problem(), "");
  DumpFile opened = reader();
  EXPECT_EQ(entry(opened).desc.dtype, DType::int32);
  EXPECT_EQ(entry(opened).stored, StoredType::f32);
  EXPECT_EQ(entry(opened).stored_name, "float32");
}

TEST_F(HostileData, NumpysNamesOfTypes) {
  fill = nullptr;
  extents = {0};
  stride.reset();
  const std::pair<H5::PredType, const char*> kTypes[] = {
      {H5::PredType::STD_U8LE, "uint8"},     {H5::PredType::STD_I8BE, "int8"},
      {H5::PredType::STD_U16LE, "uint16"},   {H5::PredType::STD_I16BE, ">i2"},
      {H5::PredType::STD_I32LE, "int32"},    {H5::PredType::STD_U64BE, ">u8"},
      {H5::PredType::IEEE_F64LE, "float64"}, {H5::PredType::IEEE_F32BE, ">f4"}};
  for (const auto& [stored, text] : kTypes) {
    type = stored;
    DumpFile opened = reader();
    EXPECT_EQ(entry(opened).stored_name, text);
    EXPECT_EQ(entry(opened).problem, "");
  }
}

TEST_F(HostileData, BooleansAsNumpyWritesThem) {
  H5::EnumType boolean(H5::PredType::NATIVE_INT8);
  std::int8_t value = 0;
  boolean.insert("FALSE", &value);
  value = 1;
  boolean.insert("TRUE", &value);
  type = boolean;
  data_type = 9;
  const std::int8_t values[] = {1, 0, 0, 1, 1, 0};
  fill = [&](H5::DataSet& dataset) { dataset.write(values, boolean); };
  for (const bool is_chunked : {false, true}) {
    const hsize_t chunk[] = {1, 2};
    if (is_chunked) properties.setChunk(2, chunk);
    DumpFile opened = reader();
    EXPECT_EQ(entry(opened).stored, StoredType::boolean);
    EXPECT_EQ(entry(opened).offset < 0, is_chunked);
    EXPECT_THAT(read_as<std::int8_t>(opened, entry(opened)), ElementsAre(1, 0, 0, 1, 1, 0));
  }
}

TEST_F(HostileData, HalvesAsNumpyWritesThem) {
  H5::FloatType half_type(H5::PredType::IEEE_F32LE);
  half_type.setFields(15, 10, 5, 0, 10);
  half_type.setEbias(15);
  half_type.setPrecision(16);
  half_type.setSize(2);
  const std::uint16_t bits[] = {0x3c00, 0x4000, 0xc400, 0x7c00, 0x0001, 0x8000};
  data_type = 10;
  for (const bool is_big_endian : {false, true}) {
    half_type.setOrder(is_big_endian ? H5T_ORDER_BE : H5T_ORDER_LE);
    type = half_type;
    fill = [&](H5::DataSet& dataset) {
      std::vector<std::uint16_t> stored(bits, bits + 6);
      for (std::uint16_t& value : stored) {
        if (is_big_endian) value = static_cast<std::uint16_t>(value << 8 | value >> 8);
      }
      dataset.write(stored.data(), half_type);
    };
    DumpFile opened = reader();
    EXPECT_EQ(entry(opened).stored_name, is_big_endian ? ">f2" : "float16");
    EXPECT_THAT(read_as<std::uint16_t>(opened, entry(opened)), ::testing::ElementsAreArray(bits));
  }
}

TEST_F(HostileData, BigEndianDataIsRead) {
  type = H5::PredType::IEEE_F32BE;
  fill = [](H5::DataSet& dataset) {
    const float values[] = {1, 2, 3, 4, 5, 6};
    dataset.write(values, H5::PredType::NATIVE_FLOAT);
  };
  DumpFile opened = reader();
  EXPECT_THAT(read_as<float>(opened, entry(opened)), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST_F(HostileData, BytesKeepTheirBitsWhateverTheirSign) {
  const std::uint8_t bytes[] = {0, 1, 127, 128, 200, 255};
  data_type = 2;
  for (const H5::PredType& stored : {H5::PredType::STD_I8LE, H5::PredType::STD_U8LE}) {
    type = stored;
    fill = [&](H5::DataSet& dataset) { dataset.write(bytes, stored); };
    EXPECT_THAT(bytes_read(), ::testing::ElementsAreArray(bytes));
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
  DumpFile opened(path());
  float to[1];
  EXPECT_THAT(error_of([&] {
                opened.read(entry(opened), {0, 1}, to);
              }),
              HasSubstr("1099511627776x1099511627776"));
}

// HDF5 allocates no element before one is written (late allocation); h5py's fillvalue=.
TEST_F(HostileData, ElementsThatAreOnlyAFillValue) {
  fill = nullptr;
  const float value = 2.5F;
  properties.setFillValue(H5::PredType::NATIVE_FLOAT, &value);
  const hsize_t chunk[] = {1, 2};
  for (const bool is_chunked : {false, true}) {
    if (is_chunked) properties.setChunk(2, chunk);
    DumpFile opened = reader();
    EXPECT_EQ(entry(opened).problem, "");
    EXPECT_THAT(read_as<float>(opened, entry(opened)), ElementsAre(2.5, 2.5, 2.5, 2.5, 2.5, 2.5));
    EXPECT_FALSE(opened.is_hole(entry(opened), {0, 6}));
  }
  extents = {hsize_t{1} << 28, 2};
  stride = {2, 1};
  EXPECT_EQ(
      problem(),
      "536870912 elements are declared and only their fill value is stored; at most 268435456 "
      "are allowed");
}

// Unwritten chunks read as the fill value, either chosen or HDF5's default.
TEST_F(HostileData, ChunksThatAreNotAllWritten) {
  const hsize_t chunk[] = {1, 3};
  properties.setChunk(2, chunk);
  fill = [](H5::DataSet& dataset) {
    H5::DataSpace row = dataset.getSpace();
    const hsize_t first[] = {1, 0}, count[] = {1, 3};
    row.selectHyperslab(H5S_SELECT_SET, count, first);
    const float values[] = {1, 2, 3};
    dataset.write(values, H5::PredType::NATIVE_FLOAT, H5::DataSpace(2, count), row);
  };
  for (const float value : {0.0F, -1.0F}) {
    if (value != 0) properties.setFillValue(H5::PredType::NATIVE_FLOAT, &value);
    DumpFile opened = reader();
    EXPECT_THAT(read_as<float>(opened, entry(opened)), ElementsAre(value, value, value, 1, 2, 3));
  }
}

TEST_F(HostileData, ExtentsThatDoNotMatchTheStoredBytes) {
  const auto with_rows = [&](std::uint64_t rows) {
    make();
    std::fstream file(path(), std::ios::in | std::ios::out | std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    const std::uint64_t before[] = {2, 3};
    const std::string pattern(reinterpret_cast<const char*>(before), sizeof before);
    const std::size_t at = bytes.find(pattern);  // the extents, followed by their maxima
    for (const std::size_t place : {at, bytes.find(pattern, at + 1)}) {
      file.seekp(static_cast<std::streamoff>(place));
      file.write(reinterpret_cast<const char*>(&rows), sizeof rows);
    }
    file.close();
    DumpFile opened(path());
    return inputs_of(opened.records().at(0)).at(0).problem;
  };
  EXPECT_EQ(with_rows(2), "");
  EXPECT_THAT(with_rows(1), HasSubstr("3 elements of 4 bytes are declared, 24 bytes are stored"));
  EXPECT_THAT(with_rows(std::uint64_t{1} << 40),
              HasSubstr("3298534883328 elements of 4 bytes are declared, the file has"));
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
  DumpFile opened(path());
  EXPECT_THAT(inputs_of(opened.records().at(0)).at(0).problem, HasSubstr("it has no extents"));
}

}  // namespace
}  // namespace opbench::dump_tests
