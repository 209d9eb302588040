// What happens around the process that reads a file, and to files that change.
#include "dump/dump_file.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <thread>

#include "dump/catalogue.h"
#include "dump/strided_read.h"
#include "tests/dump/dump_support.h"

namespace opbench::dump_tests {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<pid_t> children() {
  std::vector<pid_t> ids;
  for (const auto& task : fs::directory_iterator("/proc/self/task")) {
    std::ifstream list(task.path() / "children");
    for (pid_t id = 0; list >> id;) ids.push_back(id);
  }
  return ids;
}

class DumpFileTest : public DumpTest {
 protected:
  // One contiguous tensor of so many elements, 0, 1, 2, ...
  void write(std::int64_t elements) {
    std::vector<float> values(static_cast<std::size_t>(elements));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
    DumpWriter writer(path());
    writer.begin_record("op", DeviceType::npu);
    writer.write_output("y", describe(DType::fp32, {elements}), values.data());
    writer.finish();
  }

  // The same in chunks, which the library has to read.
  void write_chunked() {
    write(4);
    H5::H5File file(path().string(), H5F_ACC_RDWR);
    const hsize_t extent = 4, chunk = 2;
    H5::DSetCreatPropList properties;
    properties.setChunk(1, &chunk);
    const float values[] = {1, 2, 3, 4};
    file.createDataSet("/op/1/output/z", H5::PredType::IEEE_F32LE, H5::DataSpace(1, &extent),
                       properties)
        .write(values, H5::PredType::NATIVE_FLOAT);
  }
};

TEST_F(DumpFileTest, NoProcessIsLeftBehind) {
  write(4);
  const auto before = children();
  {
    DumpFile listed(path()), unused(path());
    EXPECT_EQ(listed.records().size(), 1u);
    EXPECT_EQ(children().size(), before.size() + 2);
  }
  EXPECT_EQ(children(), before);
}

TEST_F(DumpFileTest, ACrashOfTheLibraryIsAnError) {
  write_chunked();
  const auto before = children();
  DumpFile file(path());
  const DumpEntry chunked = outputs_of(file.records()[0]).at(1);
  ASSERT_LT(chunked.offset, 0);
  const auto now = children();
  for (const pid_t id : now) {
    if (std::find(before.begin(), before.end(), id) == before.end()) kill(id, SIGSEGV);
  }
  float values[4];
  EXPECT_EQ(error_of([&] {
              file.read(chunked, {0, 4}, values);
            }),
            "cannot read " + path().string() +
                ": the HDF5 library crashed while reading /op/1/output/z (Segmentation fault); the "
                "file is damaged");
  const DumpEntry contiguous = outputs_of(file.records()[0]).at(0);
  EXPECT_THAT(read_as<float>(file, contiguous), ::testing::ElementsAre(0, 1, 2, 3));
}

TEST_F(DumpFileTest, FilesThatChangeWhileTheyAreReadAreRefused) {
  write(1000);
  DumpFile file(path());
  const DumpEntry y = outputs_of(file.records()[0]).at(0);
  std::vector<float> values(1000);
  const auto message = [&] {
    return error_of<RunError>([&] { file.read(y, {0, 1000}, values.data()); });
  };
  EXPECT_EQ(message(), "(no error)");
  fs::resize_file(path(), 3000);
  EXPECT_EQ(message(), path().string() + " was changed while it was read");
}

// The file that was opened is read, not the one that has its name now.
TEST_F(DumpFileTest, AReplacedFileDoesNotMatter) {
  write(4);
  DumpFile file(path());
  const DumpEntry y = outputs_of(file.records()[0]).at(0);
  fs::remove(path());
  std::ofstream(path()) << "something else";
  EXPECT_THAT(read_as<float>(file, y), ::testing::ElementsAre(0, 1, 2, 3));
}

TEST_F(DumpFileTest, SeveralThreadsReadAtOnce) {
  write(100'000);
  DumpFile file(path());
  const DumpEntry y = outputs_of(file.records()[0]).at(0);
  std::vector<std::thread> threads;
  std::vector<int> wrong(4);
  for (std::size_t t = 0; t < wrong.size(); ++t) {
    threads.emplace_back([&, t] {
      for (std::int64_t first = 0; first < 100'000; first += 1000) {
        float values[1000];
        file.read(y, {first, 1000}, values);
        for (int i = 0; i < 1000; ++i) wrong[t] += values[i] != static_cast<float>(first + i);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(wrong, ::testing::Each(0));
}

TEST_F(DumpFileTest, DamagedFilesEndInOneLine) {
  write_chunked();
  const auto size = static_cast<std::int64_t>(fs::file_size(path()));
  std::string bytes(static_cast<std::size_t>(size), '\0');
  std::ifstream(path(), std::ios::binary).read(bytes.data(), size);
  for (std::int64_t at = 8; at < size; at += 97) {
    std::string damaged = bytes;
    for (std::int64_t i = at; i < std::min(at + 4, size); ++i) {
      damaged[static_cast<std::size_t>(i)] = '\xff';
    }
    std::ofstream(path(), std::ios::binary).write(damaged.data(), size);
    const std::string message = error_of([&] {
      DumpFile file(path());
      for (const DumpRecord& record : file.records()) {
        for (const DumpEntry& entry : record.entries) {
          if (entry.problem.empty() && entry.desc.elements() < 100) read_all(file, entry);
        }
      }
    });
    EXPECT_EQ(std::count(message.begin(), message.end(), '\n'), 0) << at << message;
  }
}

TEST(CatalogueCodec, IsReadBackWhole) {
  Catalogue catalogue;
  DumpEntry entry;
  entry.name = "x";
  entry.path = "/op/1/input/x";
  entry.side = Side::input;
  entry.kind = EntryKind::tensor;
  entry.desc = describe(DType::int8, {2, 3});
  entry.attributes.type = 0;
  entry.attributes.stride = Dims{3, 1};
  entry.attributes.count = 5;
  entry.stored = StoredType::i8;
  entry.stored_name = "int8";
  entry.device = DeviceType::npu;
  entry.format = Format::NC1HWC0;
  entry.is_strided = true;
  entry.offset = 2048;
  entry.warning = "odd";
  catalogue.records.push_back({"op", "1", 1, {{"note", "text"}}, {entry}});
  catalogue.strays.push_back(entry);
  catalogue.problems.push_back("one");
  const std::string bytes = encode(catalogue);
  const Catalogue back = decode_catalogue(bytes, 4096);
  EXPECT_EQ(encode(back), bytes);
  ASSERT_EQ(back.records.size(), 1u);
  EXPECT_EQ(back.records[0].notes, catalogue.records[0].notes);
  const DumpEntry& read = back.records[0].entries.at(0);
  EXPECT_EQ(read.desc, entry.desc);
  EXPECT_EQ(read.attributes.stride, entry.attributes.stride);
  EXPECT_EQ(read.attributes.data_type, std::nullopt);
  EXPECT_EQ(read.format, entry.format);
  EXPECT_EQ(read.offset, 2048);
  EXPECT_EQ(back.strays.at(0).warning, "odd");
  EXPECT_EQ(back.problems, catalogue.problems);
}

TEST(CatalogueCodec, RefusesDamage) {
  Catalogue catalogue;
  catalogue.records.push_back({"op", "1", 1, {}, {DumpEntry{}}});
  const std::string bytes = encode(catalogue);
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_THROW(decode_catalogue(std::string_view(bytes).substr(0, length), 0), Error) << length;
  }
  EXPECT_THROW(decode_catalogue(bytes + "x", 0), Error);
  std::string absurd = bytes;
  std::fill(absurd.begin(), absurd.begin() + 8, '\xff');
  EXPECT_THROW(decode_catalogue(absurd, 0), Error);
}

// What the library may have left of the memory of the process that sends the list.
TEST(CatalogueCodec, RefusesEntriesThatWouldBeReadFromElsewhere) {
  DumpEntry good;
  good.desc = describe(DType::fp32, {2, 3});
  good.stored = StoredType::f32;
  good.attributes.stride = Dims{1, 2};
  good.is_strided = true;
  good.offset = 1000;
  const auto is_refused = [&](const auto& spoil) {
    DumpEntry entry = good;
    spoil(entry);
    Catalogue catalogue;
    catalogue.records.push_back({"op", "1", 1, {}, {entry}});
    return error_of([&] { decode_catalogue(encode(catalogue), 1024); }) ==
           "the list of the dump is damaged";
  };
  EXPECT_FALSE(is_refused([](DumpEntry&) {}));
  EXPECT_TRUE(is_refused([](DumpEntry& entry) { entry.offset = 1001; }));
  EXPECT_TRUE(is_refused([](DumpEntry& entry) { entry.offset = INT64_MAX; }));
  EXPECT_TRUE(is_refused([](DumpEntry& entry) { entry.desc.shape = {2, 4}; }));
  EXPECT_TRUE(is_refused([](DumpEntry& entry) { entry.attributes.stride = Dims{1, 3}; }));
  EXPECT_TRUE(is_refused([](DumpEntry& entry) { entry.attributes.stride = Dims{1, -1}; }));
  EXPECT_TRUE(is_refused([](DumpEntry& entry) { entry.attributes.stride = Dims{1}; }));
  EXPECT_TRUE(is_refused([](DumpEntry& entry) { entry.attributes.stride.reset(); }));
  EXPECT_TRUE(is_refused([](DumpEntry& entry) { entry.stored = StoredType::none; }));
  EXPECT_TRUE(is_refused([](DumpEntry& entry) { entry.stored = static_cast<StoredType>(99); }));
  EXPECT_TRUE(is_refused([](DumpEntry& entry) { entry.kind = static_cast<EntryKind>(-1); }));
  EXPECT_TRUE(is_refused([](DumpEntry& entry) { entry.desc.dtype = static_cast<DType>(200); }));
  EXPECT_FALSE(is_refused([](DumpEntry& entry) {
    entry.stored = StoredType::none;
    entry.problem = "its type is string";
  }));
}

// Every order of three axes, every range, against places computed one by one.
TEST(StridedRead, GivesLogicalOrder) {
  const Dims shape = {2, 3, 4};
  Dims axes = {0, 1, 2};
  do {
    Dims strides(3);
    std::int64_t step = 1;
    for (const std::int64_t axis : axes) {
      strides[static_cast<std::size_t>(axis)] = step;
      step *= shape[static_cast<std::size_t>(axis)];
    }
    const auto read = [](ElementRange places, void* to) {
      for (std::int64_t i = 0; i < places.count; ++i) {
        static_cast<std::int16_t*>(to)[i] = static_cast<std::int16_t>(places.first + i);
      }
    };
    for (std::int64_t first = 0; first <= 24; ++first) {
      for (std::int64_t count = 0; first + count <= 24; ++count) {
        std::vector<std::int16_t> found(static_cast<std::size_t>(count) + 1);
        read_strided(shape, strides, {first, count}, 2, read, found.data());
        for (std::int64_t i = 0; i < count; ++i) {
          const std::int64_t e = first + i;
          const std::int64_t place =
              e / 12 * strides[0] + e / 4 % 3 * strides[1] + e % 4 * strides[2];
          ASSERT_EQ(found[static_cast<std::size_t>(i)], place);
        }
      }
    }
  } while (std::next_permutation(axes.begin(), axes.end()));
}

// Windows of 4 MiB, runs and gaps of all sizes: places are checked against their formula.
TEST(StridedRead, LargeTensorsInPieces) {
  struct Layout {
    Dims shape, strides;
  };
  const Layout layouts[] = {{{3000, 2000}, {1, 3000}},         // a transposed matrix
                            {{2, 2'000'000}, {1, 2}},          // interleaved
                            {{2'000'000, 2}, {1, 2'000'000}},  // a long run for each of two columns
                            {{50, 3, 40'000}, {0, 1, 3}},      // repeated
                            {{1000, 3}, {6000, 2000}},         // elements far apart
                            {{4, 700, 900}, {630'000, 1, 700}}};
  for (const auto& [shape, strides] : layouts) {
    std::int64_t asked = 0;
    const auto read = [&](ElementRange places, void* to) {
      asked += places.count;
      for (std::int64_t i = 0; i < places.count; ++i) {
        static_cast<std::int32_t*>(to)[i] = static_cast<std::int32_t>(places.first + i);
      }
    };
    const std::int64_t count = element_count(shape);
    const ElementRange range{count / 7, count - count / 7 - 1};
    std::vector<std::int32_t> found(static_cast<std::size_t>(range.count));
    read_strided(shape, strides, range, 4, read, found.data());
    const Dims dense = row_major_strides(shape);
    for (std::int64_t i = 0; i < range.count; ++i) {
      std::int64_t place = 0;
      for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        place += (range.first + i) / dense[axis] % shape[axis] * strides[axis];
      }
      ASSERT_EQ(found[static_cast<std::size_t>(i)], place) << to_string(shape) << " " << i;
    }
    EXPECT_LE(asked, 2 * range.count + 4096) << to_string(shape);
  }
}

// Ranges of one panel, across two, and back again, of two tensors in turn.
TEST(StridedRead, PanelsServeAnyRange) {
  DumpEntry a, b;
  a.path = "/a/1/output/a";
  b.path = "/b/1/output/b";
  a.desc = b.desc = describe(DType::fp32, {3000, 2000});  // 24 MB, a panel has 16 MiB
  a.stored = b.stored = StoredType::f32;
  a.attributes.stride = Dims{1, 3000};
  b.attributes.stride = Dims{0, 1};
  PanelReader panels;
  const auto read = [](ElementRange places, void* to) {
    for (std::int64_t i = 0; i < places.count; ++i) {
      static_cast<std::int32_t*>(to)[i] = static_cast<std::int32_t>(places.first + i);
    }
  };
  for (const std::int64_t first : {0, 4'194'300, 4'194'304, 17, 5'999'990}) {
    for (const DumpEntry* entry : {&a, &b}) {
      std::int32_t found[10];
      panels.read(*entry, {first, 10}, read, found);
      for (int i = 0; i < 10; ++i) {
        const std::int64_t e = first + i;
        EXPECT_EQ(found[i], entry == &a ? e / 2000 + e % 2000 * 3000 : e % 2000) << e;
      }
    }
  }
}

TEST(StridedRead, APanelThatFailedIsNotServed) {
  DumpEntry entry;
  entry.path = "/a/1/output/a";
  entry.desc = describe(DType::fp32, {2, 2});
  entry.stored = StoredType::f32;
  entry.attributes.stride = Dims{1, 2};
  PanelReader panels;
  const auto fail = [](ElementRange, void*) { throw Error("damaged"); };
  std::int32_t found[4];
  EXPECT_EQ(error_of([&] { panels.read(entry, {0, 4}, fail, found); }), "damaged");
  EXPECT_EQ(error_of([&] { panels.read(entry, {0, 4}, fail, found); }), "damaged");
}

}  // namespace
}  // namespace opbench::dump_tests
