#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <sstream>

#include "harness/report/console.h"
#include "tensor/utf8.h"
#include "tests/support/records.h"

namespace opbench::report {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string plot(const std::vector<Record>& records, const PlotStyle& style) {
  std::ostringstream out;
  plot_case(out, records, style);
  return out.str();
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> found;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) found.push_back(line);
  return found;
}

std::vector<Record> two() {
  return {timed_record({100}, "relu[8,fp32]", "native"),
          timed_record({25}, "relu[8,fp32]", "fast")};
}

}  // namespace

TEST(Plot, Bars) {
  EXPECT_EQ(bar_text(1, 4, true), "████");
  EXPECT_EQ(bar_text(0.5, 4, true), "██");
  EXPECT_EQ(bar_text(3.0 / 32, 4, true), "▍");
  EXPECT_EQ(bar_text(1e-9, 4, true), "▏") << "what is there is seen";
  EXPECT_EQ(bar_text(0, 4, true), "");
  EXPECT_EQ(bar_text(7, 4, true), "████");
  EXPECT_EQ(bar_text(0.5, 4, false), "##");
  EXPECT_EQ(bar_text(1e-9, 4, false), "#");
}

// One long bar must not shorten all others.
TEST(Plot, TheAxisEndsAtFiveTimesNative) {
  std::vector<Record> records = two();
  records.push_back(timed_record({90000}, "relu[8,fp32]", "slow"));
  compare_variants(records);
  const auto rows = lines(plot(records, {{}, false, 60}));
  ASSERT_EQ(rows.size(), 3u);
  const auto length = [&](std::size_t row) { return std::ranges::count(rows[row], '#'); };
  EXPECT_THAT(rows[2], HasSubstr("#//##  "));
  EXPECT_NEAR(static_cast<double>(length(0)), static_cast<double>(length(2) + 2) / 5, 1);
  EXPECT_THAT(rows[0], Not(HasSubstr("//")));
}

TEST(Plot, SaysWhatIsDisturbed) {
  std::vector<Record> records = two();
  records.push_back(timed_record({60, 150, 150}, "relu[8,fp32]", "slow"));
  compare_variants(records);
  EXPECT_THAT(plot(records, {{}, false, 60}), HasSubstr("150.00 us disturbed"));
}

TEST(Plot, OfACaseFillsTheWidth) {
  for (const bool is_unicode : {true, false}) {
    for (const std::size_t width : {40, 80, 133}) {
      const auto rows = lines(plot(two(), {{}, is_unicode, width}));
      ASSERT_EQ(rows.size(), 2u);
      EXPECT_EQ(utf8_length(rows[0]), width);
      EXPECT_EQ(utf8_length(rows[1]), width);
      EXPECT_THAT(rows[1], HasSubstr("25.00 us"));
    }
  }
  const auto narrow = lines(plot(two(), {{}, false, 1}));
  EXPECT_THAT(narrow[0], HasSubstr("########")) << "never without a bar";
}

TEST(Plot, ColoursOnlyWhereTheyAreWanted) {
  EXPECT_THAT(plot(two(), {{.colour = true}, true, 60}), HasSubstr("\033["));
  EXPECT_THAT(plot(two(), {{}, true, 60}), testing::Not(HasSubstr("\033[")));
}

TEST(Plot, NothingOfASingleTime) {
  EXPECT_EQ(plot({two()[0]}, {}), "");
  EXPECT_EQ(plot({}, {}), "");
}

TEST(Plot, LongNamesAreCut) {
  std::vector<Record> records = two();
  records[0].variant = fmt::format("{:n<27}äöü{:n<50}", "", "");
  const auto rows = lines(plot(records, {{}, true, 80}));
  EXPECT_EQ(utf8_length(rows[0]), 80u) << rows[0];
  EXPECT_THAT(rows[0], HasSubstr("nnn..nnn"));
}

}  // namespace opbench::report
