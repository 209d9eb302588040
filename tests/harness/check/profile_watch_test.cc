#include "harness/check/profile_watch.h"

#include <gmock/gmock.h>

#include <cmath>
#include <random>
#include <sstream>

#include "tests/profiles/profiles.h"

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
    EXPECT_THAT(comparison.changes, Each(Field(&ProfileChange::verdict, ChangeVerdict::same)));
  }
}

// Add takes 75 us instead of 50 of 160: 15.6 % of the network.
TEST(ProfileWatch, TellsSlowerAndFasterAndWeighsThem) {
  Profile before(1), slow(2), fast(3);
  for (int i = 0; i < 10; ++i) before.step(50), slow.step(75), fast.step(25);
  const ProfileComparison slower = compared(before, slow);
  EXPECT_EQ(slower.changes[0].type, "Add");
  EXPECT_EQ(slower.changes[0].verdict, ChangeVerdict::slower);
  EXPECT_NEAR(slower.changes[0].change, 0.5, 0.05);
  EXPECT_NEAR(slower.changes[0].of_network, 0.156, 0.02);
  EXPECT_EQ(slower.count(ChangeVerdict::same), 2);
  EXPECT_EQ(change_of(compared(before, fast), "Add").verdict, ChangeVerdict::faster);
}

TEST(ProfileWatch, TellsNewAndGoneOperatorsAndFormats) {
  Profile before(1), after(2);
  for (int i = 0; i < 5; ++i) before.step(50), after.step(50, "NCHW", "Gelu");
  const ProfileComparison comparison = compared(before, after);
  EXPECT_EQ(change_of(comparison, "Relu").verdict, ChangeVerdict::gone);
  EXPECT_LT(change_of(comparison, "Relu").of_network, 0);
  EXPECT_EQ(change_of(comparison, "Gelu").verdict, ChangeVerdict::new_);
  EXPECT_EQ(change_of(comparison, "Add").formats, "ND -> NCHW");
}

// Gelu takes 10 us of 160 in each step, for any number of steps.
TEST(ProfileWatch, SharesAreOfTheEarlierProfileAndOfOneStep) {
  Profile before(1), after(2);
  for (int i = 0; i < 5; ++i) before.step(50);
  for (int i = 0; i < 10; ++i) after.step(50, "ND", "Gelu");
  const ProfileComparison comparison = compared(before, after);
  EXPECT_EQ(comparison.runs, 2);
  EXPECT_NEAR(change_of(comparison, "Gelu").of_network, 10.0 / 160, 0.003);
  EXPECT_NEAR(change_of(comparison, "Relu").of_network, -10.0 / 160, 0.003);
}

TEST(ProfileWatch, AsksWhereFewOperatorsAreCommon) {
  const auto printed = [](const ProfileComparison& comparison) {
    std::ostringstream out;
    print_profile_comparison(out, comparison, {});
    return out.str();
  };
  Profile before(1), same(2);
  for (int i = 0; i < 5; ++i) before.step(50), same.step(50, "ND", "Gelu");
  EXPECT_FALSE(compared(before, same).is_of_two_networks());
  EXPECT_THAT(printed(compared(before, same)),
              testing::HasSubstr("Changes, in percent of the earlier device time:\n"));
  // FlashAttentionScoreGrad: 63172 us are 7.12 times the 8873.737 us of AlexNet.
  const ProfileComparison two =
      compare_profiles(ingest_samples({"kernel_details/alexnet_level1_rank0.csv"}),
                       ingest_samples({"kernel_details/llm_bf16_st_rank0.csv"}), {});
  EXPECT_TRUE(two.is_of_two_networks());
  EXPECT_NEAR(two.changes[0].of_network, 63128.66 / 8873.737, 1e-3);
  EXPECT_THAT(printed(two),
              testing::HasSubstr("note: 2 of 241 operators in common: are the profiles of "
                                 "one network?\n"));
}

/// Profiles of single rows, five steps each, with deviations of 0 to 4 %.
IngestResult profile_of(const std::vector<std::pair<std::string, double>>& rows) {
  std::string text = kHeader;
  for (int step = 1; step <= 5; ++step) {
    for (const auto& [row, us] : rows) {
      const std::size_t type_end = row.find(',');
      text += std::to_string(step) + ",n," + row.substr(0, type_end) + ",AI_CORE," +
              std::to_string(us * (1 + 0.01 * (step - 1))) + row.substr(type_end) + "\n";
    }
  }
  IngestResult result;
  result.hot_spots.keep_samples(64);
  ingest_bytes(bytes_of(text), "k.csv", result);
  return result;
}

// 64 channels are 4 blocks of 16. 20 channels are 2 blocks; the last is padded.
TEST(ProfileWatch, AnOperatorInAnotherFormatIsTheSameOperator) {
  const ProfileComparison comparison = compare_profiles(
      profile_of({{"Relu,\"1,64,56,56\",FLOAT16,NCHW,\"1,64,56,56\",FLOAT16,NCHW", 10},
                  {"Conv2D,\"1,20,8,8;40,20,3,3\",FLOAT16;FLOAT16,NCHW;NCHW,\"1,40,8,8\",FLOAT16,"
                   "NCHW",
                   30},
                  {"Add,\"1,20,8,8\",FLOAT,NCHW,\"1,20,8,8\",FLOAT,NCHW", 5}}),
      profile_of({{"Relu,\"1,4,56,56,16\",FLOAT16,NC1HWC0,\"1,4,56,56,16\",FLOAT16,NC1HWC0", 20},
                  {"Conv2D,\"1,2,8,8,16;18,3,16,16\",FLOAT16;FLOAT16,NC1HWC0;FRACTAL_Z,"
                   "\"1,3,8,8,16\",FLOAT16,NC1HWC0",
                   30},
                  {"Add,\"1,3,8,8,16\",FLOAT,NC1HWC0,\"1,3,8,8,16\",FLOAT,NC1HWC0", 5}}),
      {});
  const ProfileChange& relu = change_of(comparison, "Relu");
  EXPECT_EQ(relu.verdict, ChangeVerdict::slower);
  EXPECT_EQ(relu.formats, "NCHW -> NC1HWC0");
  EXPECT_EQ(relu.signature_before, "1,64,56,56 FLOAT16 -> 1,64,56,56 FLOAT16");
  const ProfileChange& conv = change_of(comparison, "Conv2D");
  EXPECT_EQ(conv.verdict, ChangeVerdict::same);
  EXPECT_EQ(conv.formats,
            "input 0 NCHW -> NC1HWC0, input 1 NCHW -> FRACTAL_Z, output 0 NCHW -> NC1HWC0");
  // 3 blocks hold 33 channels or more, so this is another operator.
  EXPECT_EQ(comparison.count(ChangeVerdict::gone), 1);
  EXPECT_EQ(comparison.count(ChangeVerdict::new_), 1);
}

/// Many operators with noise of 10 % in every task. Operator 7 takes `factor` times as long.
ProfileComparison compared_noise(unsigned seed, int steps, double factor = 1) {
  std::mt19937 random(seed);
  const auto read = [&](double of_seventh) {
    // Box-Muller transform; its numbers are equal on every platform.
    const auto uniform = [&] { return (static_cast<double>(random()) + 1) / 4294967297.0; };
    const auto normal = [&] {
      return std::sqrt(-2 * std::log(uniform())) * std::cos(6.283185307179586 * uniform());
    };
    std::string text = kHeader;
    for (int step = 1; step <= steps; ++step) {
      for (int i = 0; i < 300; ++i) {
        const double us = (10 + i) * std::exp(0.1 * normal()) * (i == 7 ? of_seventh : 1);
        const std::string shape = std::to_string(i + 1) + ",FLOAT,ND,";
        text += std::to_string(step) + ",n,Add,AI_CORE," + std::to_string(us) + ',' + shape +
                std::to_string(i + 1) + ",FLOAT,ND\n";
      }
    }
    IngestResult result;
    result.hot_spots.keep_samples(64);
    ingest_bytes(bytes_of(text), "k.csv", result);
    return result;
  };
  const IngestResult before = read(1), after = read(factor);
  return compare_profiles(before, after, {});
}

// Among 300 equal operators, some differ by 10 % and outside 99 % intervals by chance.
TEST(ProfileWatch, FindsNothingInManyOperatorsThatAreTheSame) {
  for (unsigned seed = 0; seed < 10; ++seed) {
    for (const int steps : {1, 3, 5, 20}) {
      const ProfileComparison comparison = compared_noise(seed, steps);
      ASSERT_EQ(comparison.changes.size(), 300U);
      EXPECT_EQ(comparison.count(ChangeVerdict::slower), 0) << seed << ' ' << steps;
      EXPECT_EQ(comparison.count(ChangeVerdict::faster), 0) << seed << ' ' << steps;
    }
  }
}

TEST(ProfileWatch, FindsTheOneOperatorOfManyThatIsSlower) {
  for (unsigned seed = 0; seed < 5; ++seed) {
    const ProfileComparison comparison = compared_noise(seed, 60, 1.15);
    EXPECT_EQ(comparison.count(ChangeVerdict::slower), 1) << seed;
    EXPECT_EQ(comparison.count(ChangeVerdict::faster), 0) << seed;
    for (const ProfileChange& one : comparison.changes) {
      EXPECT_EQ(one.verdict == ChangeVerdict::slower, one.signature == "8 FLOAT -> 8 FLOAT");
    }
  }
}

// One or two samples do not determine a spread.
TEST(ProfileWatch, IsAmbiguousWithoutSamples) {
  Profile before(1), after(2);
  before.step(50), before.step(50), after.step(500), after.step(500);
  EXPECT_THAT(compared(before, after).changes,
              Each(Field(&ProfileChange::verdict, ChangeVerdict::ambiguous)));
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
