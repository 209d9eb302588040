// Long ids and attributes as people see them.
#include "harness/report/text.h"

#include <gmock/gmock.h>

#include <sstream>
#include <vector>

#include "harness/report/row_detail.h"
#include "tests/support/records.h"

namespace opbench::report {
namespace {

std::string numbers(std::size_t count) {
  std::string text = "9408,64,64";
  for (std::size_t i = 3; i < count; ++i) text += ",128";
  return text;
}

}  // namespace

TEST(ShortLists, CutsLongRowsOfNumbersAndShapesOnly) {
  EXPECT_EQ(with_short_lists("sizes=[" + numbers(161) + "] lr=0.2"),
            "sizes=[9408,64,64,... 161 numbers] lr=0.2");
  EXPECT_EQ(with_short_lists(numbers(8)), numbers(8));
  EXPECT_EQ(with_short_lists("1,2,3,4,5,6,7,8,9"), "1,2,3,... 9 numbers");
  EXPECT_EQ(with_short_lists("concat[8x4,8x4,8x2,8x1,8x1,8x1,8x1,8x1,8x1,fp32,ND,axis=-1]"),
            "concat[8x4,8x4,8x2,... 9 shapes,fp32,ND,axis=-1]");
  const std::string mixed = "gather[8x4,116:int32,fp32,a=[1,2],b=1.5,c=[-1,0,1,2,3,4,5,6]] b3,4,";
  EXPECT_EQ(with_short_lists(mixed), mixed);
  EXPECT_EQ(with_short_lists(""), "");
}

TEST(ShortLists, CutsFewButLongNumbersToTheWidthAskedFor) {
  const std::string text = "a=[1,2,3,4,5] sizes=[1234567,1234567,1234567,1234567,1234567,1234567]";
  EXPECT_EQ(with_short_lists(text), text);
  EXPECT_EQ(with_short_lists(text, 40),
            "a=[1,2,3,4,5] sizes=[1234567,1234567,1234567,... 6 numbers]");
}

TEST(Console, UnitsOfACaseDoNotMix) {
  std::vector<Record> records = {timed_record({48.5}, "relu[64,fp32]", "fast"),
                                 timed_record({1234.5}, "relu[64,fp32]", "slow")};
  records[0].accuracy = Accuracy{.max_ulp = 9e8, .inside_share = 0.99987};
  std::ostringstream out, verbose;
  print_heading(out, {});
  print_case(out, records, {});
  EXPECT_THAT(out.str(), testing::HasSubstr("   48.50 us     0 % "));
  EXPECT_THAT(out.str(), testing::HasSubstr(" 1234.50 us     0 % "));
  EXPECT_THAT(out.str(), testing::HasSubstr("  99.98 %  passed"));
  EXPECT_THAT(out.str(), testing::Not(testing::HasSubstr("9e+08")));
  print_heading(verbose, {}, RowDetail::errors);
  print_case(verbose, records, {}, RowDetail::errors);
  EXPECT_THAT(verbose.str(), testing::HasSubstr("  inside  max ULP  verdict"));
  EXPECT_THAT(verbose.str(), testing::HasSubstr("  99.98 %    9e+08  passed"));
}

TEST(Console, TitlesStayShort) {
  std::vector<Record> records(1);
  Record& record = records.front();
  record.case_id = "axpy[64,fp32,ND,sizes=[" + numbers(161) + "]]";
  std::ostringstream out;
  print_case(out, records, {});
  EXPECT_THAT(out.str(),
              testing::HasSubstr("axpy[64,fp32,ND,sizes=[9408,64,64,... 161 numbers]]  ("));
}

}  // namespace opbench::report
