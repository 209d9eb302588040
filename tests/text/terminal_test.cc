#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <optional>
#include <string>

#include "text/fitted.h"

namespace opbench {
namespace {

// The variables that it looks at, put back at the end.
class Terminal : public testing::Test {
 protected:
  Terminal() {
    for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
      const char* value = std::getenv(name);
      before_[name] = value == nullptr ? std::nullopt : std::optional<std::string>(value);
      unsetenv(name);
    }
  }
  ~Terminal() override {
    for (const auto& [name, value] : before_) {
      unsetenv(name.c_str());
      if (value) setenv(name.c_str(), value->c_str(), 1);
    }
  }

 private:
  std::map<std::string, std::optional<std::string>> before_;
};

}  // namespace

TEST_F(Terminal, TheFirstVariableThatIsSetCounts) {
  EXPECT_TRUE(takes_unicode()) << "nothing says otherwise";
  setenv("LANG", "C", 1);
  EXPECT_FALSE(takes_unicode());
  setenv("LC_CTYPE", "en_GB.UTF-8", 1);
  EXPECT_TRUE(takes_unicode());
  setenv("LC_ALL", "POSIX", 1);
  EXPECT_FALSE(takes_unicode());
  setenv("LC_ALL", "", 1);
  EXPECT_TRUE(takes_unicode()) << "empty is as if it were not set";
  setenv("LC_ALL", "de_DE.utf8", 1);
  EXPECT_TRUE(takes_unicode());
}

// ECMA-48, "Select graphic rendition": 31 is red, 0 ends it.
TEST(ConsoleColour, OnlyWhereTheStyleHasAny) {
  EXPECT_EQ(coloured("slow", kRed, {.colour = true}), "\x1b[31mslow\x1b[0m");
  EXPECT_EQ(coloured("slow", kRed, {.colour = false}), "slow");
}

}  // namespace opbench
