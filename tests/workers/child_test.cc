#include "workers/child.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>

namespace opbench {
namespace {

void wait_for_ever() {
  while (true) pause();
}

}  // namespace

TEST(Child, EndsAfterItsWork) {
  Child child(Child::Group::ours, "start", [] {});
  EXPECT_TRUE(child.ends_within(10));
  EXPECT_TRUE(child.is_held()) << "it is not waited for yet";
  const int status = child.end();
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_FALSE(child.is_held());
  EXPECT_EQ(child.end(), 0) << "once is enough";
}

TEST(Child, IsKilledWithItsObjectAndLeavesNoZombie) {
  for (const auto group : {Child::Group::ours, Child::Group::own}) {
    pid_t id = 0;
    {
      const Child child(group, "start", wait_for_ever);
      id = child.id();
      EXPECT_FALSE(child.ends_within(0.02));
      EXPECT_EQ(getpgid(id), group == Child::Group::own ? id : getpgrp());
    }
    EXPECT_NE(kill(id, 0), 0);
  }
}

TEST(Child, AnExceptionEndsItAlone) {
  Child child(Child::Group::ours, "start", [] {
    signal(SIGABRT, SIG_DFL);
    close(STDERR_FILENO);
    throw std::runtime_error("no memory");
  });
  EXPECT_TRUE(child.ends_within(10));
  EXPECT_TRUE(WIFSIGNALED(child.end()));
}

}  // namespace opbench
