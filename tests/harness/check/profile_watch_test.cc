#include "harness/check/profile_watch.h"

#include <gmock/gmock.h>

#include <random>

#include "tests/ingest/profiles.h"

namespace opbench::check {
namespace {

using testing::Each;
using testing::Field;

constexpr const char* kHeader =
    "Step Id,Name,Type,Accelerator Core,Duration(us),Input Shapes,Input Data Types,Input Formats,"
    "Output Shapes,Output Data Types,Output Formats\n";

/// Steps of a network of three operators, with noise of about 2 %.
class Profile {
 public:
  explicit Profile(unsigned seed) : random_(seed) {}

  void step(double add_us, const std::string& format = "ND", const std::string& last = "Relu") {
    ++step_;
    row("MatMul", 100, "ND");
    row("Add", add_us, format);
    row(last, 10, "ND");
  }
  IngestResult read() const {
    IngestResult result;
    result.hot_spots.keep_samples(64);
    ingest_bytes(bytes_of(kHeader + text_), "k.csv", result);
    return result;
  }

 private:
  void row(const std::string& type, double us, const std::string& format) {
    const double noise = 1 + 0.02 * (static_cast<double>(random_() % 2001) / 1000 - 1);
    text_ += std::to_string(step_) + ",n," + type + ",AI_CORE," + std::to_string(us * noise) +
             ",\"8,8\",FLOAT," + format + ",\"8,8\",FLOAT,ND\n";
  }

  std::mt19937 random_;
  int step_ = 0;
  std::string text_;
};

ProfileComparison compared(const Profile& before, const Profile& after) {
  return compare_profiles(before.read(), after.read(), {});
}

const ProfileChange& change_of(const ProfileComparison& comparison, std::string_view type) {
  for (const ProfileChange& one : comparison.changes) {
    if (one.type == type) return one;
  }
  throw std::runtime_error("no operator " + std::string(type));
}

TEST(ProfileWatch, HalvesOfOneProfileAreTheSame) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    Profile first(seed), second(seed + 1000);
    for (int i = 0; i < 10; ++i) first.step(50), second.step(50);
    const ProfileComparison comparison = compared(first, second);
    EXPECT_EQ(comparison.changes.size(), 3U);
    EXPECT_THAT(comparison.changes, Each(Field(&ProfileChange::verdict, ProfileVerdict::same)));
  }
}

// Add: 50 to 75 us of 160 are 15.6 % of the network.
TEST(ProfileWatch, TellsSlowerAndFasterAndWeighsThem) {
  Profile before(1), slow(2), fast(3);
  for (int i = 0; i < 10; ++i) before.step(50), slow.step(75), fast.step(25);
  const ProfileComparison slower = compared(before, slow);
  EXPECT_EQ(slower.changes[0].type, "Add");
  EXPECT_EQ(slower.changes[0].verdict, ProfileVerdict::slower);
  EXPECT_NEAR(slower.changes[0].change, 0.5, 0.05);
  EXPECT_NEAR(slower.changes[0].of_network, 0.156, 0.02);
  EXPECT_EQ(slower.count(ProfileVerdict::same), 2);
  EXPECT_EQ(change_of(compared(before, fast), "Add").verdict, ProfileVerdict::faster);
}

TEST(ProfileWatch, TellsNewAndGoneOperatorsAndFormats) {
  Profile before(1), after(2);
  for (int i = 0; i < 5; ++i) before.step(50), after.step(50, "NCHW", "Gelu");
  const ProfileComparison comparison = compared(before, after);
  EXPECT_EQ(change_of(comparison, "Relu").verdict, ProfileVerdict::gone);
  EXPECT_LT(change_of(comparison, "Relu").of_network, 0);
  EXPECT_EQ(change_of(comparison, "Gelu").verdict, ProfileVerdict::fresh);
  EXPECT_EQ(change_of(comparison, "Add").formats, "ND -> ND, now NCHW -> ND");
}

// One or two samples have no spread that is known.
TEST(ProfileWatch, IsAmbiguousWithoutSamples) {
  Profile before(1), after(2);
  before.step(50), before.step(50), after.step(500), after.step(500);
  EXPECT_THAT(compared(before, after).changes,
              Each(Field(&ProfileChange::verdict, ProfileVerdict::ambiguous)));
}

TEST(ProfileWatch, KeepsAFewSamplesOfMany) {
  Profile many(1);
  for (int i = 0; i < 500; ++i) many.step(50);
  for (const HotOperator& one : many.read().hot_spots.operators()) {
    EXPECT_EQ(one.samples.size(), 64U);
  }
}

}  // namespace
}  // namespace opbench::check
