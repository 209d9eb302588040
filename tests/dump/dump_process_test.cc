// Ends of the process that reads a file, and of its parent.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <functional>
#include <future>
#include <optional>
#include <thread>

#include "dump/dump_selection.h"
#include "tests/dump/dump_support.h"
#include "workers/confined.h"

namespace opbench::dump_tests {
namespace {

namespace fs = std::filesystem;

pid_t parent_of(pid_t id) {
  std::ifstream status(fmt::format("/proc/{}/status", id));
  for (std::string word; status >> word;) {
    pid_t parent = 0;
    if (word == "PPid:" && status >> parent) return parent;
  }
  return 0;
}

std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> ids;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const int id = std::atoi(entry.path().filename().c_str());
    if (id > 0 && parent_of(id) == parent) ids.push_back(id);
  }
  return ids;
}

// Returns true as soon as the condition holds; false after 20 seconds.
bool becomes(const std::function<bool()>& holds) {
  for (int i = 0; i < 2000; ++i) {
    if (holds()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

// An orphan becomes a child of this process if an earlier Child made it adopt orphans.
bool is_gone(pid_t orphan) {
  return waitpid(orphan, nullptr, WNOHANG) == orphan || kill(orphan, 0) != 0;
}

class DumpProcess : public DumpTest {
 protected:
  DumpProcess() {
    const float values[] = {1, 2, 3, 4};
    DumpWriter writer(path());
    writer.begin_record("op", DeviceType::npu);
    writer.write_output("y", describe(DType::fp32, {4}), values);
    writer.finish();
    H5::H5File file(path().string(), H5F_ACC_RDWR);
    const hsize_t extent = 4, chunk = 2;
    H5::DSetCreatPropList properties;
    properties.setChunk(1, &chunk);
    file.createDataSet("/op/1/output/z", H5::PredType::IEEE_F32LE, H5::DataSpace(1, &extent),
                       properties)
        .write(values, H5::PredType::NATIVE_FLOAT);
  }

  static void expect_chunked_data(DumpFile& file) {
    const DumpEntry z = outputs_of(file.records().at(0)).at(1);
    EXPECT_THAT(read_as<float>(file, z), ::testing::ElementsAre(1, 2, 3, 4));
  }
};

TEST_F(DumpProcess, KilledWhileItListsIsAnError) {
  DumpFile file(path());
  for (const pid_t id : children_of(getpid())) kill(id, SIGKILL);
  const std::string killed = fmt::format(
      "cannot read {}: the process that read it ended by signal 9 (Killed) while listing it",
      path().string());
  // The process may have been faster.
  const std::string message = error_of([&] { file.records(); });
  EXPECT_THAT(message, ::testing::AnyOf(killed, "(no error)"));
  EXPECT_EQ(error_of([&] { file.records(); }), message) << "the same every time";
}

TEST_F(DumpProcess, OutlivesTheThreadThatStartedIt) {
  std::optional<DumpFile> file;
  std::thread([&] { file.emplace(path()); }).join();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  expect_chunked_data(*file);
}

// Contiguous data is read without the process, which would only use memory.
TEST_F(DumpProcess, EndsAfterTheListWhereNoTensorNeedsIt) {
  DumpFile chunked(path());
  chunked.records();
  EXPECT_EQ(children_of(getpid()).size(), 1u);
  const float values[] = {1, 2, 3, 4};
  DumpWriter writer(path("plain.h5"));
  writer.begin_record("op", DeviceType::npu);
  writer.write_input_scalar("alpha", 0.5);
  writer.write_output("y", describe(DType::fp32, {4}), values);
  writer.finish();
  DumpFile plain(path("plain.h5"));
  EXPECT_EQ(children_of(getpid()).size(), 2u);
  const DumpEntry y = outputs_of(plain.records().at(0)).at(0);
  EXPECT_EQ(children_of(getpid()).size(), 1u);
  EXPECT_THAT(read_as<float>(plain, y), ::testing::ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(children_of(getpid()).size(), 1u);
}

TEST_F(DumpProcess, LeavesCtrlCToItsParent) {
  DumpFile file(path());
  file.records();
  for (const pid_t id : children_of(getpid())) kill(id, SIGINT);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  expect_chunked_data(file);
}

TEST_F(DumpProcess, HoldsNothingOpenOfItsParent) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  DumpFile file(path());
  file.records();
  close(ends[1]);
  char byte;
  EXPECT_EQ(::read(ends[0], &byte, 1), 0) << "the end of the pipe was kept open";
  close(ends[0]);
}

TEST_F(DumpProcess, EndsWithItsParent) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t parent = fork();
  if (parent == 0) {
    DumpFile file(path());
    file.records();
    const std::vector<pid_t> ids = children_of(getpid());
    const pid_t child = ids.empty() ? 0 : ids.front();
    if (::write(ends[1], &child, sizeof child) < 0) _exit(1);
    kill(getpid(), SIGKILL);
  }
  pid_t child = 0;
  ASSERT_EQ(::read(ends[0], &child, sizeof child), static_cast<ssize_t>(sizeof child));
  ASSERT_GT(child, 0);
  waitpid(parent, nullptr, 0);
  EXPECT_TRUE(becomes([&] { return is_gone(child); }));
  close(ends[0]);
  close(ends[1]);
}

// Holds the lock of the HDF5 library, like a thread inside of a library call.
class HdfLock {
 public:
  HdfLock() : thread_([this] { hold(); }) { held_.get_future().wait(); }
  ~HdfLock() {
    release_.set_value();
    thread_.join();
  }

 private:
  void hold() {
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    int ignored = 0;
    // H5Piterate calls a user function for each property, with the lock held.
    H5Piterate(list, &ignored, &HdfLock::wait, this);
    H5Pclose(list);
  }
  static herr_t wait(hid_t, const char*, void* self) {
    auto* lock = static_cast<HdfLock*>(self);
    lock->held_.set_value();
    lock->release_.get_future().wait();
    return 1;  // skips the other properties
  }

  std::promise<void> held_, release_;
  std::thread thread_;
};

TEST_F(DumpProcess, IsStartedAgainIfItInheritedALock) {
  std::optional<HdfLock> lock(std::in_place);
  std::thread releaser([&] {
    std::this_thread::sleep_for(
        std::chrono::milliseconds(1500));  // the second process inherits it too
    lock.reset();
  });
  DumpFile file(path());
  expect_chunked_data(file);
  releaser.join();
  EXPECT_EQ(children_of(getpid()).size(), 1u) << "the others are gone";
}

TEST_F(DumpProcess, IsNotStartedForEver) {
  const HdfLock lock;
  DumpFile file(path());
  EXPECT_THAT(error_of([&] { file.records(); }),
              ::testing::EndsWith("5 processes in a row waited for a lock of another thread while "
                                  "listing it; read it while no other thread uses HDF5"));
  EXPECT_TRUE(children_of(getpid()).empty());
}

TEST_F(DumpProcess, ACopyIsStartedAgainIfItInheritedALock) {
  std::optional<HdfLock> lock(std::in_place);
  std::thread releaser([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    lock.reset();
  });
  extract(path(), path("copy.h5"), {"/op"});
  releaser.join();
  DumpFile copy(path("copy.h5"));
  expect_chunked_data(copy);
}

// Simulates a library call that never returns.
TEST_F(DumpProcess, ABusyProcessEndsWithItsParent) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t parent = fork();
  if (parent == 0) {
    const pid_t self = getpid();
    const pid_t child = fork();
    if (child == 0) {
      confine_child(self, {ends[0], ends[1]});
      for (volatile bool forever = true; forever;) note_progress();
    }
    if (::write(ends[1], &child, sizeof child) < 0) _exit(1);
    _exit(0);
  }
  pid_t child = 0;
  ASSERT_EQ(::read(ends[0], &child, sizeof child), static_cast<ssize_t>(sizeof child));
  waitpid(parent, nullptr, 0);
  EXPECT_TRUE(becomes([&] { return is_gone(child); }));
  close(ends[0]);
  close(ends[1]);
}

}  // namespace
}  // namespace opbench::dump_tests
