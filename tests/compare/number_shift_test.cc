#include "compare/number_shift.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <random>

#include "tests/compare/dump_records.h"

namespace opbench {
namespace {

using compare_tests::Call;
using compare_tests::gpu;
using compare_tests::npu;

// Records of these operators in order, numbered from `first`.
std::vector<Call> calls(int first, const std::vector<std::string>& ops) {
  std::vector<Call> made;
  for (const std::string& op : ops) made.push_back({op, std::to_string(first++), {"output/r"}});
  return made;
}

const std::vector<std::string> kSix = {"Relu", "Add", "Add", "Relu", "Add", "Add"};

std::optional<std::int64_t> by(const std::optional<NumberShift>& shift) {
  return shift ? std::optional(shift->by) : std::nullopt;
}

// The shift that follows from the names alone.
std::optional<std::int64_t> shift(int actual, int expected) {
  const auto mine = npu(calls(actual, kSix)), theirs = gpu(calls(expected, kSix));
  return by(number_shift(mine, theirs, default_name_map()));
}

/// Two dumps of the same calls. The actual dump gives the k-th call the number `number(k)`.
class NumberShiftOfValues : public testing::Test {
 protected:
  // The shift and the call where it begins, for example "/relu/3: 1". Actual values are `factor`
  // times the expected ones.
  static std::string shift(const std::vector<std::string>& ops,
                           const std::function<int(int)>& number, double factor = 1.001) {
    std::map<std::string, std::size_t> call_of;  // by the path of the output
    std::vector<Call> mine, theirs = calls(1, ops);
    for (std::size_t k = 0; k < ops.size(); ++k) {
      const int seq = number(static_cast<int>(k));
      mine.push_back({ops[k], std::to_string(seq), {"output/r"}});
      call_of[fmt::format("npu /{}/{}/output/r", ops[k], seq)] = k;
      call_of[fmt::format("gpu /{}/{}/output/r", ops[k], k + 1)] = k;
    }
    const auto sample = [&](const std::string& side, double times) {
      return [&call_of, side, times](const DumpEntry& entry) {
        std::minstd_rand random(static_cast<unsigned>(call_of.at(side + " " + entry.path) + 1));
        std::vector<double> values(8);
        for (double& value : values) value = times * (double(random() % 2001) - 1000);
        return values;
      };
    };
    const auto actual_records = npu(mine), expected_records = gpu(theirs);
    const auto found = number_shift(actual_records, expected_records, default_name_map(),
                                    {CallRule::aligned, sample("npu", factor), sample("gpu", 1)});
    if (!found) return "none";
    return fmt::format("/{}/{}: {}", found->first->op, found->first->seq_text, found->by);
  }

  static std::vector<std::string> network(int blocks) {
    std::vector<std::string> ops;
    for (int i = 0; i < blocks; ++i) ops.insert(ops.end(), {"conv", "bn", "relu"});
    return ops;
  }
};

TEST(NumberShift, IsWhatPairsMostCalls) {
  EXPECT_EQ(shift(1, 0), 1);
  EXPECT_EQ(shift(7, 12), -5);
  EXPECT_EQ(shift(16, 0), 16);
  EXPECT_EQ(shift(1700, 0), 1700);
}

TEST(NumberShift, IsNoneWhereNumbersFit) {
  EXPECT_EQ(shift(3, 3), std::nullopt);
  const auto theirs = gpu(calls(0, kSix));
  EXPECT_EQ(number_shift(npu({}), theirs, default_name_map()), std::nullopt);
}

TEST(NumberShift, NumbersAtTheEndsOfTheirRangeAreLeftAlone) {
  const auto far = npu({{"Relu", "9223372036854775807", {"output/r"}}});
  EXPECT_EQ(number_shift(far, gpu(calls(0, kSix)), default_name_map()), std::nullopt);
}

// By name, all calls but one would have a wrong partner.
TEST_F(NumberShiftOfValues, TellsWhereOneOperatorRepeats) {
  const std::vector<std::string> relus(20, "relu");
  EXPECT_EQ(shift(relus, [](int k) { return k + 2; }), "/relu/2: 1");
  EXPECT_EQ(shift(relus, [](int k) { return k + 101; }), "/relu/101: 100");
  EXPECT_EQ(shift(relus, [](int k) { return k + 1; }), "none");
}

TEST_F(NumberShiftOfValues, TellsFromWhichCallOn) {
  const auto from = [](int first) {
    return [first](int k) { return k + 1 + (k >= first ? 1 : 0); };
  };
  EXPECT_EQ(shift(network(13), from(0)), "/conv/2: 1");
  EXPECT_EQ(shift(network(13), from(20)), "/relu/22: 1");
  EXPECT_EQ(shift(network(13), from(36)), "/conv/38: 1");
  // Only some of so many calls are tried.
  EXPECT_EQ(shift(network(1000), from(2000)), "/relu/2002: 1");
  EXPECT_EQ(shift(std::vector<std::string>(3000, "relu"), from(2000)), "/relu/2002: 1");
}

// Wrong results are not a shift, however many there are.
TEST_F(NumberShiftOfValues, IsNotTakenForWrongValues) {
  const auto same = [](int k) { return k + 1; };
  for (const double factor : {-1., 0., 2., std::nan("")}) {
    EXPECT_EQ(shift(network(13), same, factor), "none") << factor;
  }
}

}  // namespace
}  // namespace opbench
