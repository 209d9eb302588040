#include "tensor/processor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <string>

#include "tensor/error.h"
#include "tests/support.h"
#include "tests/support/temp_dir.h"

namespace opbench {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(Isa, BestIsUsedUnlessToldOtherwise) { EXPECT_EQ(current_isa(), supported_isas().front()); }

// current_isa calls a function that Highway's dispatcher chose; this test reads the dispatcher's
// index.
TEST(Isa, SelectionTakesEffect) {
  std::size_t index = 0;
  on_every_isa([&] {
    const std::size_t chosen = hwy::GetChosenTarget().GetIndex();
    EXPECT_GT(chosen, index) << "worse targets have higher indices";
    index = chosen;
  });
  for (const std::string& isa : supported_isas()) {
    select_isa(isa);
    EXPECT_EQ(current_isa(), isa);
  }
  select_isa(supported_isas().front());
}

TEST(Isa, ErrorListsWhatIsSupported) {
  EXPECT_THAT([] { select_isa("mmx"); }, ThrowsMessage<Error>(HasSubstr(supported_isas().back())));
  EXPECT_THAT([] { select_isa(""); }, ThrowsMessage<Error>(HasSubstr(supported_isas().front())));
}

TEST(Isa, ListingLeavesTheSelectionAlone) {
  on_every_isa([] {
    const std::string selected = current_isa();
    supported_isas();
    EXPECT_EQ(current_isa(), selected);
  });
}

namespace {

void add_cache(const TempDir& dir, int index, const char* level, const char* type,
               const std::string& size) {
  const std::string cache = "index" + std::to_string(index);
  dir.write(cache + "/level", level);
  dir.write(cache + "/type", type);
  dir.write(cache + "/size", size);
}

// Linux states the 32 MiB of a die for an AMD EPYC 9R14. The C library states 320 MiB.
TEST(CacheSizes, AreThoseThatTheKernelTells) {
  const TempDir dir;
  const std::string folder = dir.directory();
  add_cache(dir, 0, "1", "Data", "48K");
  add_cache(dir, 1, "1", "Instruction", "32K");
  add_cache(dir, 2, "2", "Unified", "1024K");
  add_cache(dir, 3, "3", "Unified", "32M");
  EXPECT_EQ(cache_bytes_in(folder, 1), std::size_t{48} << 10);
  EXPECT_EQ(cache_bytes_in(folder, 2), std::size_t{1} << 20);
  EXPECT_EQ(cache_bytes_in(folder, 3), std::size_t{32} << 20);
  EXPECT_EQ(cache_bytes_in(folder, 4), 0u);
}

TEST(CacheSizes, NonsenseIsNoSize) {
  const TempDir dir;
  const std::string folder = dir.path("absent");
  EXPECT_EQ(cache_bytes_in(folder, 1), 0u) << "no such folder";
  for (const char* size : {"", "K", "-1K", "99999999999999999999999K"}) {
    add_cache(dir, 0, "1", "Data", size);
    EXPECT_EQ(cache_bytes_in(dir.directory(), 1), 0u) << size;
  }
  add_cache(dir, 0, "one", "Data", "32K");
  EXPECT_EQ(cache_bytes_in(dir.directory(), 1), 0u);
}

// Kernels divide their work by these sizes, so 0 would stop them.
TEST(CacheSizes, AreNeverNothing) {
  EXPECT_GE(own_cache_bytes(), std::size_t{64} << 10);
  EXPECT_GE(last_level_cache_bytes(), own_cache_bytes());
  EXPECT_GE(first_cache_bytes(), std::size_t{4} << 10);
  EXPECT_EQ(cache_bytes(0), 0u);
  EXPECT_EQ(cache_bytes(5), 0u);
}

}  // namespace

}  // namespace opbench
