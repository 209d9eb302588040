#include "dump/dump_selection.h"

#include <gmock/gmock.h>

#include "tests/dump/dump_support.h"
#include "text/name_pattern.h"

namespace opbench::dump_tests {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

DumpRecord record_of(const std::string& op, const std::string& number,
                     const std::vector<std::string>& names) {
  DumpRecord record{op, number, {}, {}, {}};
  if (number.find_first_not_of("0123456789") == number.npos) record.seq = std::stoll(number);
  for (const std::string& name : names) {
    DumpEntry entry;
    entry.name = name;
    entry.path = "/" + op + "/" + number + "/input/" + name;
    record.entries.push_back(entry);
  }
  return record;
}

class DumpSelectionTest : public testing::Test {
 protected:
  DumpSelectionTest() {
    records_ = {record_of("relu", "10", {"self"}), record_of("relu", "2", {"self"}),
                record_of("softplus", "3", {"self", "beta"}), record_of("softplus", "last", {})};
    DumpEntry stray;
    stray.name = "loose";
    stray.path = "/loose";
    strays_ = {stray};
  }
  DumpListing listing() const { return {"x.h5", records_, strays_}; }

  /// Returns the paths of the selected entries.
  std::vector<std::string> selected(const DumpQuery& query) const {
    const DumpSelection selection = select(listing(), query);
    std::vector<std::string> paths;
    for (const SelectedRecord& record : selection.records) {
      if (record.entries.empty()) paths.push_back(record.record->op + " alone");
      for (const DumpEntry* entry : record.entries) paths.push_back(entry->path);
    }
    for (const DumpEntry* entry : selection.strays) paths.push_back(entry->path);
    return paths;
  }
  std::string error(const std::string& path) const {
    return error_of([&] { find_paths(listing(), {path}); });
  }

  std::vector<DumpRecord> records_;
  std::vector<DumpEntry> strays_;
};

TEST_F(DumpSelectionTest, AllInTheOrderInWhichTheyRan) {
  EXPECT_THAT(selected({}),
              ElementsAre("/relu/2/input/self", "/softplus/3/input/self", "/softplus/3/input/beta",
                          "/relu/10/input/self", "softplus alone", "/loose"));
}

TEST_F(DumpSelectionTest, PathsHoldWhatIsBelowThem) {
  EXPECT_THAT(selected({{"/relu"}, {}}), ElementsAre("/relu/2/input/self", "/relu/10/input/self"));
  EXPECT_THAT(selected({{"relu/2/"}, {}}), ElementsAre("/relu/2/input/self"));
  EXPECT_THAT(selected({{"/softplus/3/input/beta", "/loose"}, {}}),
              ElementsAre("/softplus/3/input/beta", "/loose"));
  EXPECT_THAT(find_paths(listing(), {"//relu//2/", "/softplus/3/input/beta", "relu", "/softplus"}),
              ElementsAre("/relu", "/softplus"));
}

TEST_F(DumpSelectionTest, PatternsMeanOperatorsAndTensors) {
  EXPECT_THAT(selected({{}, name_pattern("^relu$", "--only")}),
              ElementsAre("/relu/2/input/self", "/relu/10/input/self"));
  EXPECT_THAT(selected({{}, name_pattern("3/input/b", "--only")}),
              ElementsAre("/softplus/3/input/beta"));
  EXPECT_THAT(selected({{"/relu"}, name_pattern("soft", "--only")}), IsEmpty());
}

TEST_F(DumpSelectionTest, WhatIsNotThereIsAnsweredWithWhatIsNear) {
  EXPECT_EQ(error("/rulu/2"), "x.h5 has no '/rulu/2'; did you mean '/relu'?");
  EXPECT_EQ(error("/relu/3"), "x.h5 has no '/relu/3'; /relu holds 2, 10");
  EXPECT_EQ(error("/softplus/3/input/bta"),
            "x.h5 has no '/softplus/3/input/bta'; did you mean '/softplus/3/input/beta'?");
  EXPECT_EQ(error("/conv2d"), "x.h5 has no '/conv2d'; it holds loose, relu, softplus");
  EXPECT_EQ(error("/rel"), "x.h5 has no '/rel'; did you mean '/relu'?");
  EXPECT_EQ(error("/relu/2/input/self/more"),
            "x.h5 has no '/relu/2/input/self/more'; /relu/2/input/self is empty");
}

}  // namespace
}  // namespace opbench::dump_tests
