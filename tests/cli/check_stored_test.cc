// `opbench check --baseline FILE --current FILE`: tests which results of two files are compared.
#include <gmock/gmock.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "tensor/processor.h"
#include "tests/cli/check_cli.h"

namespace opbench {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class CheckStored : public CheckCli {
 protected:
  CheckStored() {
    for (const char* name : {"old.json", "new.json"}) {
      const Outcome ran =
          shell(program() + " -q --case 'softplus[64,fp32]' --case 'relu[64,fp32]' --threads 1 " +
                "--time 0.001 --repetitions 2 --json " + path(name));
      EXPECT_EQ(ran.code, 0) << ran.err;
    }
  }
  Outcome compare(const std::string& flags) const {
    return check_here("--baseline old.json --current new.json --json check.json " + flags);
  }
  /// The compared results, as "softplus native", ...
  std::set<std::string> compared(const std::string& flags) const {
    const Outcome ran = compare(flags);
    EXPECT_EQ(ran.code, 0) << flags << ran.out << ran.err;
    std::set<std::string> items;
    const auto json = nlohmann::json::parse(read("check.json"));
    for (const auto& item : json["items"]) {
      const std::string id = item["case"], variant = item["variant"];
      items.insert(id.substr(0, id.find('[')) + " " + variant);
    }
    return items;
  }
};

}  // namespace

TEST_F(CheckStored, FlagsSelectAmongTheResults) {
  const std::set<std::string> all = compared(""), relu = compared("--op relu");
  EXPECT_GT(all.size(), relu.size());
  for (const std::string& item : relu) EXPECT_THAT(item, testing::StartsWith("relu "));
  EXPECT_EQ(compared("--filter '^relu'"), relu);
  EXPECT_EQ(compared("--case 'relu[64,fp32]'"), relu);
  EXPECT_EQ(compared("--threads 1 --dtype fp32 --format ND"), all);
  EXPECT_EQ(compared("--variant softplus_v2"), (std::set<std::string>{"softplus softplus_v2"}));
  write("relu.yaml", "cases: [{op: relu, inputs: [[64]]}]\n");
  EXPECT_EQ(compared("--cases relu.yaml"), relu);
}

TEST_F(CheckStored, ASelectionThatIsWrongIsBadInput) {
  const std::string isa = "--isa " + current_isa();
  const struct {
    const char *flags, *message;
  } kWrong[] = {
      {"--op softplsu", "unknown operator 'softplsu'; did you mean 'softplus'?"},
      {"--op softplus --shapes nofile.yaml", "nofile.yaml"},
      {"--cases nofile.yaml", "cannot read case file 'nofile.yaml'"},
      {"--variant nativ",
       "neither old.json nor new.json has results of a variant 'nativ'; did "
       "you mean 'native'?"},
      {"--filter 'relu('", "--filter"},
      {"--part 1/2", "--part says how to run, and nothing runs with --current FILE"},
      {"--no-verify", "--no-verify says how to run"},
      {isa.c_str(), "--isa says how to run"},
      {"--update --op relu", "--update with --current FILE takes no selection"},
  };
  for (const auto& wrong : kWrong) {
    const Outcome ran = compare(wrong.flags);
    EXPECT_EQ(ran.code, 2) << wrong.flags << ran.out << ran.err;
    EXPECT_THAT(ran.err, HasSubstr(wrong.message));
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
  }
}

TEST_F(CheckStored, ASelectionOfNothingIsNoSuccess) {
  for (const char* flags : {"--filter nosuch", "--threads 7", "--op gelu", "--dtype fp16"}) {
    const Outcome ran = compare(flags);
    EXPECT_EQ(ran.code, 4) << flags << ran.out << ran.err;
    EXPECT_THAT(ran.err, HasSubstr("no case is selected"));
  }
}

TEST_F(CheckStored, AFileAgainstItselfProvesNothing) {
  fs::create_hard_link(path("old.json"), path("link.json"));
  fs::copy_file(path("old.json"), path("copy.json"));
  for (const char* name : {"old.json", "./old.json", "link.json", "copy.json"}) {
    const Outcome ran = check_here("--baseline old.json --current " + std::string(name));
    EXPECT_EQ(ran.code, 2) << name << ran.out;
    EXPECT_THAT(ran.err, HasSubstr("comparing it with itself proves nothing"));
  }
}

}  // namespace opbench
