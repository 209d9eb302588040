#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace opbench {

/// What the built program did.
struct ProgramOutcome {
  int code = -1;  // 128 + the signal that killed it
  std::string out, err;
};

/// The steps of the unit of ShuffleNetV2.
inline const std::vector<std::string> kUnitSteps = {"native",      "index_select",   "half",
                                                    "concat_nchw", "relu_grad_cast", "fused"};

/// Runs contexts with the built program, in a folder of its own.
class ContextCli : public testing::Test {
 protected:
  ContextCli() : directory_(std::filesystem::path(testing::TempDir()) / unique_name()) {
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directories(directory_);
  }
  ~ContextCli() override { std::filesystem::remove_all(directory_); }

  static std::string unique_name() {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    return fmt::format("opbench_context_{}_{}", info->name(), getpid());
  }
  std::string path(const std::string& name) const { return directory_ / name; }
  std::string read(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(path(name)).rdbuf();
    return text.str();
  }

  ProgramOutcome run(std::vector<std::string> args) const {
    const std::string out = path("out.txt"), err = path("err.txt");
    const pid_t child = fork();
    if (child == 0) {
      std::vector<char*> argv = {const_cast<char*>(OPBENCH_PROGRAM)};
      for (std::string& arg : args) argv.push_back(arg.data());
      argv.push_back(nullptr);
      if (freopen(out.c_str(), "w", stdout) == nullptr) _exit(99);
      if (freopen(err.c_str(), "w", stderr) == nullptr) _exit(99);
      execv(OPBENCH_PROGRAM, argv.data());
      _exit(98);
    }
    int status = 0;
    waitpid(child, &status, 0);
    const ProgramOutcome outcome{WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
                                 read("out.txt"), read("err.txt")};
    std::filesystem::remove(out);
    std::filesystem::remove(err);
    return outcome;
  }
  /// The unit of ShuffleNetV2 with one image and further arguments.
  ProgramOutcome unit(std::vector<std::string> more) const {
    more.insert(more.begin(), {"--cases", OPBENCH_SOURCE_DIR "/cases/shufflenet_v2_unit.yaml",
                               "--set", "N=1", "--time", "0.01", "--repetitions", "2", "--quiet"});
    return run(std::move(more));
  }
  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(directory_), {}));
  }

  std::filesystem::path directory_;
};

}  // namespace opbench
