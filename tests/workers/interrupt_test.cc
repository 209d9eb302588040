// Tests interrupts in child processes, because a signal sets a request that stays set.
#include "workers/interrupt.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace opbench {
namespace {

/// The exit code of a child that runs `work`, or 128 plus the signal.
template <class Work>
int end_of(const Work& work) {
  const pid_t child = fork();
  if (child == 0) _exit(work());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

TEST(Interrupt, TheFirstSignalAsksTheSecondEnds) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "the thread sanitizer delivers signals later";
#endif
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    EXPECT_EQ(end_of([&] {
                watch_interrupts();
                if (interrupted()) return 1;
                raise(signal);
                return interrupted() ? 7 : 2;
              }),
              7);
    EXPECT_EQ(end_of([&] {
                watch_interrupts();
                raise(signal);
                raise(signal);
                return 1;
              }),
              128 + signal);
  }
}

// `nohup` ignores SIGHUP for its program.
TEST(Interrupt, WhatTheCallerIgnoresStaysIgnored) {
  EXPECT_EQ(end_of([] {
              signal(SIGHUP, SIG_IGN);
              watch_interrupts();
              raise(SIGHUP);
              return interrupted() ? 1 : 7;
            }),
            7);
}

TEST(Interrupt, NobodyAskedThisProcess) { EXPECT_FALSE(interrupted()); }

}  // namespace opbench
