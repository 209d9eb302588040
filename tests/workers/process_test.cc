#include "workers/process.h"

#include <gmock/gmock.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <thread>

namespace opbench {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

ChildProcess shell(const std::string& script) { return ChildProcess({"sh", "-c", script}); }

// True if the process exists a short time after it was ended.
bool is_alive(pid_t pid) {
  for (int i = 0; i < 200; ++i) {
    if (kill(pid, 0) != 0) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

/// Runs `work` in a thread with a stack of `bytes` bytes.
void run_on_stack(std::size_t bytes, std::function<void()> work) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, bytes), 0);
  const auto run = [](void* data) -> void* {
    (*static_cast<std::function<void()>*>(data))();
    return nullptr;
  };
  pthread_t thread{};
  ASSERT_EQ(pthread_create(&thread, &attributes, run, &work), 0);
  pthread_attr_destroy(&attributes);
  pthread_join(thread, nullptr);
}

}  // namespace

// `ulimit -s 64` gives the program such a stack. A thread on Arm has at least 128 KiB, and frames
// are larger under the address sanitizer.
TEST(CheckProcess, TalksOnASmallStack) {
#ifdef __SANITIZE_ADDRESS__
  constexpr std::size_t kStack = 256 << 10;
#else
  constexpr std::size_t kStack = 64 << 10;
#endif
  run_on_stack(std::max<std::size_t>(kStack, PTHREAD_STACK_MIN), [] {
    ChildProcess child({"cat"});
    child.write_line("one", 10);
    EXPECT_EQ(child.read_line(10), "one");
  });
}

TEST(CheckProcess, TalksLineByLine) {
  ChildProcess child({"cat"});
  child.write_line("one", 10);
  child.write_line("two words", 10);
  EXPECT_EQ(child.read_line(10), "one");
  EXPECT_EQ(child.read_line(10), "two words");
}

TEST(CheckProcess, LongLinesGoThroughFullPipes) {
  ChildProcess child({"cat"});
  const std::string line(40000, 'x');  // a pipe holds 65536 bytes
  child.write_line(line, 10);
  EXPECT_EQ(child.read_line(10), line);
}

TEST(CheckProcess, RunsWhereItShould) {
  ChildProcess child({"pwd"}, "/usr");
  EXPECT_EQ(child.read_line(10), "/usr");
}

TEST(CheckProcess, WhatCannotBeStartedIsBadInput) {
  EXPECT_THAT([] { ChildProcess({"/no/such/program"}); },
              ThrowsMessage<Error>("cannot start '/no/such/program': No such file or directory"));
  EXPECT_THAT([] { ChildProcess({"/etc/passwd"}); },
              ThrowsMessage<Error>(HasSubstr("Permission denied")));
  EXPECT_THAT([] { ChildProcess({"cat"}, "/no/such"); },
              ThrowsMessage<Error>(HasSubstr("in /no/such")));
}

TEST(CheckProcess, AnEndIsToldWithItsCodeAndLastMessage) {
  ChildProcess child = shell("echo first >&2; echo out of luck >&2; exit 7");
  EXPECT_THAT(
      [&] { child.read_line(10); },
      ThrowsMessage<ChildLost>("'sh' ended with exit code 7; last on standard error: out of luck"));
  EXPECT_THAT([&] { child.write_line("x", 10); }, ThrowsMessage<ChildLost>("'sh' is gone"));
}

TEST(CheckProcess, ACrashIsToldWithItsSignal) {
  ChildProcess child = shell("kill -SEGV $$");
  EXPECT_THAT([&] { child.read_line(10); },
              ThrowsMessage<ChildLost>(AllOf(HasSubstr("signal 11"), HasSubstr("Segmentation"))));
}

TEST(CheckProcess, ALineWithoutEndIsToldAsOne) {
  ChildProcess child = shell("tr '\\0' x < /dev/zero");
  EXPECT_THAT([&] { child.read_line(60); },
              ThrowsMessage<ChildLost>("'sh' wrote a line longer than 64 MiB and was ended"));
  EXPECT_THAT([&] { child.read_line(60); }, ThrowsMessage<ChildLost>("'sh' is gone"));
}

TEST(CheckProcess, AHungChildIsEndedWithItsChildren) {
  ChildProcess child = shell("sleep 1000 & echo $!; wait");
  const auto grandchild = static_cast<pid_t>(std::stol(child.read_line(10)));
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THAT([&] { child.read_line(0.05); },
              ThrowsMessage<ChildLost>("'sh' gave no answer within 0.05 s and was ended"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
  EXPECT_FALSE(is_alive(grandchild));
}

// The grandchild has its own session, so a signal to the group does not reach it.
TEST(CheckProcess, WhatItStartsElsewhereGoesWithIt) {
  pid_t grandchild = 0;
  {
    ChildProcess child = shell("setsid sh -c 'echo $$; exec sleep 1000' & wait");
    grandchild = static_cast<pid_t>(std::stol(child.read_line(10)));
  }
  EXPECT_FALSE(is_alive(grandchild));
}

TEST(CheckProcess, OneWhosePipesOthersHoldIsNotWaitedFor) {
  ChildProcess child = shell("setsid sleep 1000 & kill -KILL $$");
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THAT([&] { child.read_line(100); }, ThrowsMessage<ChildLost>(HasSubstr("signal 9")));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

TEST(CheckProcess, AnEndThatIsAskedForIsTold) {
  EXPECT_EQ(shell("cat").finish(10), "");
  EXPECT_EQ(shell("read line; exit 3").finish(10),
            "'sh' ended with exit code 3 after its last answer");
  EXPECT_EQ(shell("cat; echo more").finish(10), "'sh' wrote 'more' after its last answer");
  EXPECT_EQ(shell("cat; sleep 1000").finish(0.2),
            "'sh' did not end within 0.2 s after its last answer");
  EXPECT_EQ(shell("exec >&-; sleep 1000").finish(0.2),
            "'sh' did not end within 0.2 s after its last answer");
}

TEST(CheckProcess, WhatWasNotAskedForIsRefused) {
  ChildProcess child = shell("echo answer; echo more; cat");
  EXPECT_EQ(child.read_line(10), "answer");
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_THAT([&] { child.refuse_unasked(); },
              ThrowsMessage<ChildLost>(HasSubstr("'sh' wrote 'more' after its answer")));
}

TEST(CheckProcess, StandardErrorWithoutEndIsNotWaitedFor) {
  ChildProcess child = shell("yes >&2");
  EXPECT_THAT([&] { child.read_line(0.5); }, ThrowsMessage<ChildLost>(HasSubstr("no answer")));
}

// Slurm suspends a job with SIGSTOP. Time during the stop does not count for the child.
TEST(CheckProcess, TimeInWhichThisProgramIsSuspendedDoesNotCount) {
  const pid_t program = fork();
  ASSERT_GE(program, 0);
  if (program == 0) {
    try {
      ChildProcess child = shell("echo begun; sleep 4; echo done");
      Patience patience(3);  // for both lines together
      const bool is_begun = child.read_line(patience) == "begun";
      _exit(is_begun && child.read_line(patience) == "done" ? 0 : 1);
    } catch (const std::exception&) {
      _exit(2);
    }
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  kill(program, SIGSTOP);
  std::this_thread::sleep_for(std::chrono::seconds(4));
  kill(program, SIGCONT);
  int status = -1;
  EXPECT_EQ(waitpid(program, &status, 0), program);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(CheckProcess, AChildThatDoesNotReadIsEnded) {
  ChildProcess child = shell("sleep 1000");
  EXPECT_THROW(child.write_line(std::string(1 << 20, 'x'), 0.05), ChildLost);
}

TEST(CheckProcess, MuchOnStandardErrorDoesNotBlock) {
  ChildProcess child = shell("head -c 1000000 /dev/zero | tr '\\0' 'e' >&2; echo done");
  EXPECT_EQ(child.read_line(20), "done");
}

TEST(CheckProcess, GoesWithItsObject) {
  pid_t pid = 0;
  {
    ChildProcess child = shell("echo $$; sleep 1000");
    pid = static_cast<pid_t>(std::stol(child.read_line(10)));
  }
  EXPECT_FALSE(is_alive(pid));
}

}  // namespace opbench
