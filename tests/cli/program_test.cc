// The built program as a process of its own: signals, memory, cost.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

namespace opbench {
namespace {

namespace fs = std::filesystem;

std::string scratch(const std::string& name) {
  return fs::path(testing::TempDir()) /
         ("opbench_program_" + std::to_string(getpid()) + "_" + name);
}

// Starts the program with its output in `out`.
pid_t start(std::vector<std::string> args, const std::string& out) {
  const pid_t child = fork();
  if (child != 0) return child;
  std::vector<char*> argv = {const_cast<char*>(OPBENCH_PROGRAM)};
  for (std::string& arg : args) argv.push_back(arg.data());
  argv.push_back(nullptr);
  if (freopen(out.c_str(), "w", stdout) == nullptr || dup2(STDOUT_FILENO, STDERR_FILENO) < 0)
    _exit(99);
  execv(OPBENCH_PROGRAM, argv.data());
  _exit(98);
}

struct Ended {
  int code = -1;  // 128 + the signal that killed it
  std::size_t peak_bytes = 0;
};

Ended wait_for(pid_t child) {
  int status = 0;
  rusage usage{};
  wait4(child, &status, 0, &usage);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
          static_cast<std::size_t>(usage.ru_maxrss) * 1024};
}

std::string read(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// Until `text` stands in the file; false after two minutes, which only a stuck program needs.
bool wait_for_text(const std::string& path, const std::string& text) {
  for (int i = 0; i < 12000; ++i) {
    if (read(path).find(text) != std::string::npos) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

}  // namespace

TEST(Program, CtrlCKeepsWhatWasMeasured) {
  const std::string out = scratch("out.txt"), json = scratch("x.json");
  std::vector<std::string> args = {"--variant", "native", "--json", json, "--time", "0.1"};
  // All of them would take minutes.
  for (int i = 0; i < 2000; ++i) {
    args.insert(args.end(), {"--case", "relu[" + std::to_string(100 + i) + ",fp32]"});
  }
  const pid_t child = start(args, out);
  ASSERT_TRUE(wait_for_text(out, "relu 101 fp32 ND")) << read(out);
  kill(child, SIGINT);
  const Ended ended = wait_for(child);
  EXPECT_EQ(ended.code, 3);
  EXPECT_NE(read(out).find("Interrupted: what was complete is kept."), std::string::npos);
  const auto results = nlohmann::json::parse(read(json));
  EXPECT_TRUE(results["run"]["interrupted"]);
  EXPECT_GE(results["records"].size(), 2u);
  EXPECT_LT(results["records"].size(), 2000u);
  for (const auto& record : results["records"]) EXPECT_EQ(record["status"], "passed");
  fs::remove(out);
  fs::remove(json);
}

#ifdef __SANITIZE_ADDRESS__
constexpr bool kMemoryIsReal = false;  // the sanitizer's own memory would be counted
#else
constexpr bool kMemoryIsReal = true;
#endif

// Inputs and outputs of the largest case once, whatever the variants, plus 64 MiB.
TEST(Program, MemoryDoesNotGrowWithVariants) {
  if (!kMemoryIsReal) GTEST_SKIP() << "memory under the address sanitizer is not the program's own";
  const std::string out = scratch("memory.txt");
  const Ended ended =
      wait_for(start({"--case", "softplus[8x64x112x112,fp32,NC1HWC0]", "--case",
                      "softplus[8x64x112x112,fp16,NCHW]", "--time", "0.01", "--repetitions", "2"},
                     out));
  EXPECT_EQ(ended.code, 0) << read(out);
  const std::size_t case_bytes = 2ull * 8 * 64 * 112 * 112 * 4;
  EXPECT_LE(ended.peak_bytes, case_bytes + (64u << 20));
  fs::remove(out);
}

TEST(Program, StandardOutputThatCannotBeWrittenIsAFailure) {
  const pid_t child = start({"list"}, "/dev/full");
  EXPECT_EQ(wait_for(child).code, 3);
}

}  // namespace opbench
