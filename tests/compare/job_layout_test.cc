#include "compare/job_layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tensor/error.h"
#include "tests/support/temp_dir.h"

namespace opbench {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class JobLayout : public testing::Test {
 protected:
  void folder(const std::string& path) const { fs::create_directories(root() / path); }
  void file(const std::string& path) const {
    fs::create_directories((root() / path).parent_path());
    std::ofstream(root() / path) << "x";
  }
  fs::path root() const { return directory_.directory(); }
  std::vector<std::string> listed() const {
    std::vector<std::string> all;
    for (const JobDump& dump : list_job(root())) {
      all.push_back(to_string(dump.place) + ": " + dump.path.lexically_relative(root()).string());
    }
    return all;
  }

  TempDir directory_;
};

TEST_F(JobLayout, RanksAndStepsInEitherOrderByTheirNumbers) {
  folder("step10/rank0");
  folder("step2/rank0");
  folder("rank_1/step-2");
  file("step2/rank3.h5");
  folder("step2/other");
  EXPECT_THAT(listed(),
              ElementsAre("step 2, rank 0: step2/rank0", "step 2, rank 1: rank_1/step-2",
                          "step 2, rank 3: step2/rank3.h5", "step 10, rank 0: step10/rank0"));
}

TEST_F(JobLayout, RanksWithoutSteps) {
  folder("rank0/Conv2D/1/input");
  file("rank1.hdf5");
  EXPECT_THAT(listed(), ElementsAre("rank 0: rank0", "rank 1: rank1.hdf5"));
}

TEST_F(JobLayout, OtherNamesAreNone) {
  for (const char* name :
       {"rank", "ranks0", "rank0x", "rank-", "rank+1", "rank0123456789", "step0", "Rank0"}) {
    folder(name);
  }
  file("rank7.npy");
  file("rank7.txt");
  EXPECT_THAT(listed(), IsEmpty());
}

TEST_F(JobLayout, TwoDumpsOfOnePlaceAreAnError) {
  folder("rank0");
  folder("rank_0");
  try {
    listed();
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("two dumps are of rank 0: "));
  }
}

TEST(JobPairing, ByPlaceWithWhatOneSideLacks) {
  const std::vector<JobDump> actual = {{{0, 0}, "a"}, {{0, 1}, "b"}, {{1, 0}, "c"}};
  const std::vector<JobDump> expected = {{{0, 1}, "d"}, {{1, 0}, "e"}, {{2, 0}, "f"}};
  const JobPairs pairs = pair_jobs(actual, expected);
  ASSERT_EQ(pairs.pairs.size(), 2u);
  EXPECT_EQ(pairs.pairs[0].actual, "b");
  EXPECT_EQ(pairs.pairs[1].expected, "e");
  EXPECT_THAT(pairs.only_actual, ElementsAre(JobPlace{0, 0}));
  EXPECT_THAT(pairs.only_expected, ElementsAre(JobPlace{2, 0}));
}

}  // namespace
}  // namespace opbench
