// Who decides from where on results go past the caches: chance does not, code does.
#include "harness/check/peer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

#include "tests/harness/check/scripted_build.h"

namespace opbench::check {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

// A build whose workers measure `measured`, one after the other, and do as they are told.
struct Choosing {
  explicit Choosing(std::vector<std::size_t> numbers) : measured(std::move(numbers)) {
    PeerProgram program = script.program();
    program.connect = [this, connect = program.connect] {
      const char* told = std::getenv("OPBENCH_STREAM_FROM");
      const std::size_t next = measured.size() > 1 && next_ + 1 < measured.size() ? next_++ : next_;
      script.hello.streams_from = told == nullptr ? measured[next] : std::stoull(told);
      return connect();
    };
    peer = std::make_unique<Peer>(program);
  }
  std::vector<std::size_t> measured;
  double clock_s = 0;
  std::string log;
  ScriptedBuild script{"build", clock_s, log};
  std::unique_ptr<Peer> peer;
  std::size_t next_ = 0;
};

struct Chosen {
  std::string said;
  std::size_t base, null, current;
};

Chosen choose(std::vector<std::size_t> base, std::vector<std::size_t> current) {
  Choosing b(base), n(base), c(std::move(current));
  Chosen chosen;
  chosen.said = agree_on_streaming(*b.peer, *n.peer, *c.peer);
  chosen.base = b.peer->streams_from();
  chosen.null = n.peer->streams_from();
  chosen.current = c.peer->streams_from();
  unsetenv("OPBENCH_STREAM_FROM");
  return chosen;
}

constexpr std::size_t kMiB = 1 << 20;

TEST(StreamingChoice, AStepApartAllAreToldTheCurrentNumber) {
  const Chosen chosen = choose({4 * kMiB}, {8 * kMiB});
  EXPECT_THAT(chosen.said, IsEmpty());
  EXPECT_EQ(chosen.base, 8 * kMiB);
  EXPECT_EQ(chosen.null, 8 * kMiB);
  EXPECT_EQ(chosen.current, 8 * kMiB);
}

TEST(StreamingChoice, BuildsThatChooseDifferentlyKeepTheirOwn) {
  const Chosen chosen = choose({16 * kMiB}, {kMiB});
  EXPECT_THAT(chosen.said, HasSubstr("from 1.0 MiB on, in the other build from 16.0 MiB"));
  EXPECT_EQ(chosen.base, 16 * kMiB);
  EXPECT_EQ(chosen.null, 16 * kMiB);
  EXPECT_EQ(chosen.current, kMiB);
}

TEST(StreamingChoice, OneProcessThatMeasuredBadlyDecidesNothing) {
  const Chosen chosen = choose({16 * kMiB, 16 * kMiB, 4 * kMiB, 16 * kMiB}, {kMiB, 16 * kMiB});
  EXPECT_THAT(chosen.said, IsEmpty());
  EXPECT_EQ(chosen.base, 16 * kMiB);
  EXPECT_EQ(chosen.current, 16 * kMiB);
}

TEST(StreamingChoice, AnOlderBuildIsToldOurs) {
  const Chosen chosen = choose({0}, {2 * kMiB});
  EXPECT_THAT(chosen.said, IsEmpty());
  EXPECT_EQ(chosen.base, 2 * kMiB);
}

}  // namespace
}  // namespace opbench::check
