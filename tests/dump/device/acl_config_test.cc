#include "dump/device/acl_config.h"

#include <gmock/gmock.h>

#include "tensor/error.h"
#include "tests/support/temp_dir.h"

namespace opbench {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

class AclConfigTest : public testing::Test, protected TempDir {
 protected:
  AclConfig read_config(const std::string& dump) const {
    return read_acl_config(write("acl.json", "{\"dump\": " + dump + "}"));
  }
  void expect_refused(const std::string& dump, const std::string& why) const {
    EXPECT_THAT([&] { read_config(dump); },
                ThrowsMessage<Error>(AllOf(HasSubstr("acl.json"), HasSubstr(why))))
        << dump;
  }
};

}  // namespace

TEST_F(AclConfigTest, HasDefaultsForAllButThePath) {
  const AclConfig config = read_config("{\"dump_path\": \"out\"}");
  EXPECT_EQ(config.path, "out");
  EXPECT_EQ(config.mode, AclDumpMode::output);
  EXPECT_FALSE(config.dumps_operators);
  EXPECT_TRUE(config.models.empty());
  EXPECT_NE(config.find("anything"), nullptr) << "no list: every model";
}

TEST_F(AclConfigTest, SaysWhatIsDumped) {
  const AclConfig config = read_config(
      "{\"dump_path\": \"out\", \"dump_mode\": \"all\", \"dump_op_switch\": \"on\","
      " \"dump_list\": [{\"model_name\": \"a\", \"layer\": [\"x\", \"y\"]}, {\"model_name\": "
      "\"b\"}]}");
  EXPECT_EQ(config.mode, AclDumpMode::all);
  EXPECT_TRUE(config.dumps_operators);
  ASSERT_NE(config.find("a"), nullptr);
  EXPECT_THAT(config.find("a")->layers, ElementsAre("x", "y"));
  EXPECT_TRUE(config.find("b")->layers.empty());
  EXPECT_EQ(config.find("c"), nullptr);
}

// If unsupported fields were ignored, the dump would not be what the user requested.
TEST_F(AclConfigTest, RefusesWhatItDoesNotHonour) {
  expect_refused("{}", "dump_path");
  expect_refused("{\"dump_path\": \"\"}", "is empty or holds NUL");
  expect_refused("{\"dump_path\": 3}", "dump_path");
  expect_refused("{\"dump_path\": \"o\", \"dump_mode\": \"both\"}",
                 "is 'both'; allowed are output, input, all");
  expect_refused("{\"dump_path\": \"o\", \"dump_op_switch\": true}", "dump_op_switch");
  expect_refused("{\"dump_path\": \"o\", \"dump_step\": 1}", "is not supported");
  expect_refused("{\"dump_path\": \"o\", \"dump_list\": [{\"layer\": [\"x\"]}]}",
                 "has a layer, which needs a model_name");
  expect_refused("{\"dump_path\": \"o\", \"dump_list\": [{\"model\": \"x\"}]}",
                 "is not supported; allowed are model_name, layer");
  expect_refused("[]", "dump");
}

// A model that does not run, or an empty selection, would silently dump nothing.
TEST_F(AclConfigTest, MustDumpSomethingThatRuns) {
  AclConfig config;
  config.file = "acl.json";
  EXPECT_THAT([&] { require_dumped(config, true, {}); },
              ThrowsMessage<Error>(HasSubstr("dump_op_switch is off")));
  EXPECT_NO_THROW(require_dumped(config, true, {"unit"}));
  config.dumps_operators = true;
  EXPECT_NO_THROW(require_dumped(config, true, {}));
  config.models.push_back({"unit", {}});
  EXPECT_NO_THROW(require_dumped(config, false, {"unit"}));
  EXPECT_THAT([&] { require_dumped(config, false, {"unix"}); },
              ThrowsMessage<Error>(HasSubstr("no context 'unit' is selected; did you mean")));
}

}  // namespace opbench
