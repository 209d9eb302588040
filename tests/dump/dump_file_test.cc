// Ends of the process that reads a file, and files that change.
#include "dump/dump_file.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <thread>

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
  // Writes one contiguous tensor with elements 0, 1, 2, ...
  void write(std::int64_t elements) {
    std::vector<float> values(static_cast<std::size_t>(elements));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
    DumpWriter writer(path());
    writer.begin_record("op", DeviceType::npu);
    writer.write_output("y", describe(DType::fp32, {elements}), values.data());
    writer.finish();
  }

  // Writes the tensor in chunks, which the library must read.
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
  write_chunked();
  const auto before = children();
  {
    DumpFile listed(path()), unused(path());
    EXPECT_EQ(listed.records().size(), 1u);
    EXPECT_EQ(children().size(), before.size() + 2);
  }
  EXPECT_EQ(children(), before);
}

// A long catalogue is sent in parts, each with one operator or several.
TEST_F(DumpFileTest, ManyRecordsAreAllThereByNumber) {
  constexpr int kRecords = 1500;
  {
    DumpWriter writer(path());
    for (int i = 0; i < kRecords; ++i) {
      writer.begin_record(i % 3 == 0 ? "a" : "b", DeviceType::npu);
      const auto value = static_cast<float>(i);
      writer.write_output("y", describe(DType::fp32, {1}), &value);
    }
    writer.finish();
  }
  DumpFile file(path());
  const std::vector<DumpRecord>& records = file.records();
  ASSERT_EQ(records.size(), static_cast<std::size_t>(kRecords));
  for (std::size_t i = 0; i < records.size(); ++i) {
    const bool is_a = i < kRecords / 3;
    EXPECT_EQ(records[i].op, is_a ? "a" : "b");
    if (i > 0 && records[i].op == records[i - 1].op) {
      EXPECT_LT(records[i - 1].seq, records[i].seq);
    }
    const DumpEntry y = outputs_of(records[i]).at(0);
    EXPECT_THAT(read_as<float>(file, y), ::testing::ElementsAre(float(*records[i].seq - 1)));
  }
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
                ": the process that read it ended by signal 11 (Segmentation fault) while reading "
                "/op/1/output/z; the file may be damaged");
  // A new process continues.
  EXPECT_THAT(read_as<float>(file, chunked), ::testing::ElementsAre(1, 2, 3, 4));
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

// The opened file is read, not the file that now has its name.
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
}  // namespace
}  // namespace opbench::dump_tests
