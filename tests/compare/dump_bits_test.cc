// opbench invariance with two dumps that opbench wrote.
#include "compare/dump_bits.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "compare/dump_bits_report.h"
#include "tests/support/program.h"

namespace opbench {
namespace {

using testing::HasSubstr;

class DumpBits : public testing::Test, protected TempDir {
 protected:
  std::string dump(const std::string& name, const std::string& id, const std::string& variant) {
    const Outcome run = opbench_with(
        {"--case", id, "--variant", variant, "--dump", path(name), "--time", "0", "-q"});
    EXPECT_NE(run.code, 2) << run.err;
    return path(name);
  }
};

// Rows of equal numbers in every batch.
constexpr const char* kOne = "softplus[1x64,fp32,ND,data.self=arange(-3,0.1)]";
constexpr const char* kEight = "softplus[8x64,fp32,ND,data.self=arange(-3,0.1)]";
// SoftplusGrad (V1) is NaN for x > 88.72.
constexpr const char* kOverflows =
    "softplus_grad[64,64,fp32,ND,data.grad_output=uniform(-1,1),data.self=arange(80,0.25)]";

}  // namespace

TEST_F(DumpBits, TheSameRunTwiceIsEqual) {
  const Outcome run = opbench_with({"invariance", dump("a.h5", kOne, "softplus_v2"),
                                    dump("b.h5", kOne, "softplus_v2"), "--json", "-"});
  EXPECT_EQ(run.code, 0) << run.err;
  const auto json = nlohmann::json::parse(run.out);
  ASSERT_EQ(json["calls"].size(), 1u);
  EXPECT_EQ(json["calls"][0]["state"], "same");
  EXPECT_EQ(json["calls"][0]["equal_inputs"], true);
  EXPECT_EQ(json["calls"][0]["outputs"][0]["elements"], 64);
}

TEST_F(DumpBits, OtherBitsThatAreRightAreExplained) {
  const std::string a = dump("a.h5", kOne, "softplus"), b = dump("b.h5", kOne, "softplus_v2");
  const Outcome run = opbench_with({"invariance", a, b});
  EXPECT_EQ(run.code, 1);
  EXPECT_THAT(run.out, HasSubstr("first difference: /softplus/1\n  ≈ /softplus/1\n"));
  EXPECT_THAT(run.out, HasSubstr(" of 64 elements differ, first result["));
  EXPECT_THAT(run.out, HasSubstr("      its inputs are equal, and both are right: "));
  EXPECT_THAT(run.out, HasSubstr("1 operator: 0 equal, 1 with other bits that are right"));
}

TEST_F(DumpBits, AWrongResultIsNotExplained) {
  const std::string wrong = dump("a.h5", kOverflows, "softplus_grad");
  const Outcome run =
      opbench_with({"invariance", wrong, dump("b.h5", kOverflows, "softplus_v2_grad")});
  EXPECT_EQ(run.code, 1);
  EXPECT_THAT(run.out, HasSubstr("✗ /SoftplusBackward/1"));
  EXPECT_THAT(run.out, HasSubstr("wrong for its inputs in "));
}

TEST_F(DumpBits, ASmallBatchIsComparedWithRowsOfALargerOne) {
  const std::string one = dump("a.h5", kOne, "softplus_v2"),
                    eight = dump("b.h5", kEight, "softplus_v2");
  EXPECT_EQ(opbench_with({"invariance", one, eight}).code, 0);
  const Outcome other = opbench_with({"invariance", eight, one, "--row", "1"});
  EXPECT_EQ(other.code, 1);
  EXPECT_THAT(other.out, HasSubstr("64 of 64 elements differ, first result[1,0]: "));
  EXPECT_THAT(other.out, HasSubstr("its inputs differ, and both"));
  const Outcome beyond = opbench_with({"invariance", one, eight, "--row", "8"});
  EXPECT_EQ(beyond.code, 4);
  EXPECT_THAT(beyond.out, HasSubstr("has rows 0 to 7"));
}

TEST_F(DumpBits, BadUsage) {
  const std::string one = dump("a.h5", kOne, "softplus_v2");
  EXPECT_EQ(opbench_with({"invariance", one}).code, 2);
  EXPECT_EQ(opbench_with({"invariance", one, one, "--op", "relu"}).code, 2);
  EXPECT_EQ(opbench_with({"invariance", one, path("none.h5")}).code, 2);
}

}  // namespace opbench
