#include "tensor/registered.h"

#include <gtest/gtest.h>

namespace opbench {
namespace {

struct Entry {
  std::string name;
  std::string key() const { return name; }
};
const Registered<Entry> second{{"b"}};
const Registered<Entry> first{{"a"}};
const Registered<Entry> third{{"c"}};

struct Twin {
  std::string name;
  std::string key() const { return name; }
};
const Registered<Twin> one{{"same"}};
const Registered<Twin> other{{"same"}};

struct Nobody {
  std::string key() const { return {}; }
};

}  // namespace

TEST(Registered, AreSortedByKeyWhateverTheirOrder) {
  std::string names;
  for (const Entry* entry : Registered<Entry>::all()) names += entry->name;
  EXPECT_EQ(names, "abc");
}

TEST(Registered, TwoOfOneKeyAreAnError) {
  try {
    Registered<Twin>::all();
    FAIL() << "accepted";
  } catch (const std::logic_error& error) {
    EXPECT_STREQ(error.what(), "registered twice: same");
  }
}

TEST(Registered, OfATypeThatNobodyRegistersThereAreNone) {
  EXPECT_TRUE(Registered<Nobody>::all().empty());
}

}  // namespace opbench
