#include <gmock/gmock.h>
#include <sys/stat.h>

#include <fstream>

#include "tests/dump/hostile_entry.h"

// Storage of a dataset's data: in chunks, with filters, in other files, in another order.

namespace opbench::dump_tests {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class DumpStorage : public HostileEntry {};

TEST_F(DumpStorage, ChunksBeyondMemory) {
  const hsize_t chunk[] = {1 << 15, 1 << 13};
  properties.setChunk(2, chunk);
  extents = {1 << 15, 1 << 13};
  fill = nullptr;
  stride = {1 << 13, 1};
  EXPECT_EQ(problem(), "its chunks take 1073741824 bytes or more, at most 268435456 are allowed");
}

TEST_F(DumpStorage, ChunkedAndCompressedDataIsRead) {
  const hsize_t chunk[] = {1, 2};
  properties.setChunk(2, chunk);
  properties.setDeflate(1);
  DumpFile opened = reader();
  EXPECT_EQ(entry(opened).problem, "");
  EXPECT_EQ(read_as<float>(opened, entry(opened)), std::vector<float>(6));
}

TEST_F(DumpStorage, DataInOtherFilesIsNotRead) {
  fill = nullptr;
  properties.setExternal("/etc/passwd", 0, 24);
  EXPECT_EQ(problem(), "its data is in an external file");
  properties = H5::DSetCreatPropList();
  const H5::DataSpace space(2, extents.data());
  properties.setVirtual(space, "other.h5", "/op/1/output/good", space);
  EXPECT_EQ(problem(), "it is a virtual dataset, which points to other files");
}

// Reading the extents of such a dataset opens its source files. A pipe would block forever.
TEST_F(DumpStorage, SourcesOfVirtualDatasetsAreNotOpened) {
  mkfifo(path("pipe.h5").c_str(), 0600);
  make();
  {
    H5::H5File file(path().string(), H5F_ACC_RDWR);
    const hsize_t none[] = {0}, start[] = {0}, step[] = {1};
    const hsize_t unlimited[] = {H5S_UNLIMITED};
    H5::DataSpace space(1, none, unlimited);
    space.selectHyperslab(H5S_SELECT_SET, unlimited, start, step, step);
    properties.setVirtual(space, path("pipe.h5").string(), "/x", space);
    file.unlink("/op/1/input/x");
    set(file.createDataSet("/op/1/input/x", H5::PredType::IEEE_F32LE, space, properties), "Type",
        0);
  }
  DumpFile opened(path());
  EXPECT_EQ(entry(opened).problem, "it is a virtual dataset, which points to other files");
}

TEST_F(DumpStorage, CompactData) {
  properties.setLayout(H5D_COMPACT);
  fill = [](H5::DataSet& dataset) {
    const float values[] = {1, 2, 3, 4, 5, 6};
    dataset.write(values, H5::PredType::NATIVE_FLOAT);
  };
  DumpFile opened = reader();
  EXPECT_EQ(entry(opened).problem, "");
  EXPECT_THAT(read_as<float>(opened, entry(opened)), ElementsAre(1, 2, 3, 4, 5, 6));
}

// Chunks that are part of many ranges, with every filter of the library.
TEST_F(DumpStorage, FiltersOfAllKinds) {
  extents = {300, 200};
  stride = {200, 1};
  std::vector<float> values(60'000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 977);
  fill = [&](H5::DataSet& dataset) { dataset.write(values.data(), H5::PredType::NATIVE_FLOAT); };
  const hsize_t chunk[] = {70, 90};
  using Setter = std::function<void(H5::DSetCreatPropList&)>;
  std::vector<Setter> setters = {
      [](auto& list) { list.setDeflate(6); },
      [](auto& list) { list.setShuffle(), list.setDeflate(1), list.setFletcher32(); }};
  unsigned szip = 0;
  if (H5Zfilter_avail(H5Z_FILTER_SZIP) > 0) H5Zget_filter_info(H5Z_FILTER_SZIP, &szip);
  if (szip & H5Z_FILTER_CONFIG_ENCODE_ENABLED) {
    setters.emplace_back([](auto& list) { list.setSzip(H5_SZIP_NN_OPTION_MASK, 10); });
  }
  for (const Setter& setter : setters) {
    properties = H5::DSetCreatPropList();
    properties.setChunk(2, chunk);
    setter(properties);
    DumpFile opened = reader();
    const DumpEntry x = entry(opened);
    EXPECT_EQ(x.problem, "");
    std::vector<float> found(values.size());
    for (std::int64_t first = 0; first < 60'000; first += 7'000) {
      opened.read(x, {first, std::min<std::int64_t>(7'000, 60'000 - first)}, &found[first]);
    }
    EXPECT_EQ(found, values);
  }
}

TEST_F(DumpStorage, DamagedChunksAreAnError) {
  extents = {1000};
  stride = {1};
  const hsize_t chunk[] = {1000};
  properties.setChunk(1, chunk);
  properties.setFletcher32();
  const float marked = 12345.678f;
  fill = [&](H5::DataSet& dataset) {
    dataset.write(std::vector<float>(1000, marked).data(), H5::PredType::NATIVE_FLOAT);
  };
  make();
  std::fstream file(path(), std::ios::in | std::ios::out | std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  const std::string pattern(reinterpret_cast<const char*>(&marked), sizeof marked);
  file.seekp(static_cast<std::streamoff>(bytes.find(pattern + pattern)) + 2000);
  file << "xx";
  file.close();
  DumpFile opened(path());
  EXPECT_THAT(error_of([&] { read_as<float>(opened, entry(opened)); }),
              HasSubstr("/op/1/input/x: "));
}

TEST_F(DumpStorage, DataInStorageOrderComesInLogicalOrder) {  // dumps before August 2021
  // Logical x[i][j][k] = 100 i + 10 j + k of shape 2x3x4, with axes stored in the order k, i, j.
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
  device = 1;
  for (const bool is_chunked : {false, true}) {
    const hsize_t chunk[] = {2, 2, 2};
    if (is_chunked) properties.setChunk(3, chunk);
    DumpFile opened = reader();
    const DumpEntry x = entry(opened);
    EXPECT_EQ(x.warning, "");
    EXPECT_TRUE(x.is_strided);
    EXPECT_EQ(read_as<float>(opened, x), logical);
    std::vector<float> part(7);
    opened.read(x, {5, 7}, part.data());
    EXPECT_TRUE(std::equal(part.begin(), part.end(), logical.begin() + 5));
  }
}

// A repeated row: [i, j] is at place j.
TEST_F(DumpStorage, BroadcastDataInStorageOrder) {
  device = 0;
  stride = {0, 1};
  fill = [](H5::DataSet& dataset) {
    const float values[] = {1, 2, 3, 4, 5, 6};
    dataset.write(values, H5::PredType::NATIVE_FLOAT);
  };
  DumpFile opened = reader();
  EXPECT_THAT(read_as<float>(opened, entry(opened)), ElementsAre(1, 2, 3, 1, 2, 3));
}

TEST_F(DumpStorage, LargeDataInStorageOrder) {  // spans several pieces of 512 Ki elements
  device = 1;
  extents = {1, 3, 500, 400};
  stride = {600'000, 1, 1200, 3};  // channels last
  fill = [](H5::DataSet& dataset) {
    std::vector<float> stored(600'000);
    for (std::size_t i = 0; i < stored.size(); ++i) {
      stored[i] = static_cast<float>((i % 3) * 200'000 + i / 3);
    }
    dataset.write(stored.data(), H5::PredType::NATIVE_FLOAT);
  };
  DumpFile opened = reader();
  const auto values = read_as<float>(opened, entry(opened));
  for (std::size_t i = 0; i < values.size(); i += 997) ASSERT_EQ(values[i], static_cast<float>(i));
}

}  // namespace
// Three datasets of 256 MiB that use no space in the file.
TEST_F(DumpStorage, ASmallFileUnpacksToABound) {
  {
    H5::H5File file(path().string(), H5F_ACC_TRUNC);
    for (const char* group : {"/op", "/op/1", "/op/1/input"}) file.createGroup(group);
    const hsize_t extent = hsize_t{1} << 25, chunk = hsize_t{1} << 16;
    const double one = 1;
    properties.setChunk(1, &chunk);
    properties.setFillValue(H5::PredType::NATIVE_DOUBLE, &one);
    for (const char* name : {"/op/1/input/a", "/op/1/input/b", "/op/1/input/c"}) {
      file.createDataSet(name, H5::PredType::IEEE_F64LE, H5::DataSpace(1, &extent), properties);
    }
  }
  DumpFile reader(path());
  const std::vector<DumpEntry> inputs = inputs_of(reader.records().at(0));
  EXPECT_EQ(inputs.at(0).problem, "");
  EXPECT_EQ(inputs.at(1).problem, "");
  EXPECT_EQ(inputs.at(2).problem,
            "not read: with it the file unpacks to more than 512 MiB and 256 times its size");
}

}  // namespace opbench::dump_tests
