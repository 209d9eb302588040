#include "harness/run/machine.h"

#include <gmock/gmock.h>

#include "harness/run/memory.h"
#include "tensor/parallel.h"
#include "tensor/processor.h"

namespace opbench {

using testing::Contains;
using testing::MatchesRegex;
using testing::Pair;

TEST(Machine, SaysWhereAndWithWhatNumbersWereMade) {
  const Machine machine = describe_machine();
  EXPECT_NE(machine.cpu, "");
  EXPECT_EQ(machine.cores, available_cores());
  EXPECT_EQ(machine.isa, current_isa());
  EXPECT_THAT(machine.isas, Contains(machine.isa));
  EXPECT_GE(machine.memory_bytes, machine.available_bytes);
  EXPECT_GE(machine.load, 0);
  EXPECT_THAT(machine.os, MatchesRegex("Linux .* .*"));
  EXPECT_THAT(machine.turbo, testing::AnyOf("on", "off", "unknown"));
  EXPECT_THAT(machine.date, MatchesRegex("20..-..-..T..:..:..Z"));
  EXPECT_THAT(machine.version, MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
  EXPECT_NE(machine.compiler, "");
  EXPECT_NE(machine.build_type, "");
}

TEST(Machine, NamesTheLibrariesThatDecideSpeedAndBits) {
  const Machine machine = describe_machine();
  for (const char* library : {"Eigen", "Highway", "oneTBB", "HDF5", "Google Benchmark"}) {
    EXPECT_THAT(machine.libraries, Contains(Pair(library, MatchesRegex("[0-9].*")))) << library;
  }
}

TEST(Machine, MemoryThatIsFree) {
  EXPECT_GT(available_memory(), std::size_t{1} << 20);
  EXPECT_LE(available_memory(), describe_machine().memory_bytes);
}

}  // namespace opbench
