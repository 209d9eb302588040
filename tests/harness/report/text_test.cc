// Tests long ids and attributes in the form that reports show.
#include "harness/report/text.h"

#include <gmock/gmock.h>

#include <sstream>
#include <vector>

#include "harness/report/console.h"
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
  EXPECT_THAT(out.str(), testing::HasSubstr(
                             "  fast                      48.50 us          -     0.0  passed"));
  EXPECT_THAT(out.str(), testing::HasSubstr(
                             "  slow                    1234.50 us          -     0.0  passed"));
  EXPECT_THAT(out.str(), testing::Not(testing::HasSubstr("inside")));
  EXPECT_THAT(out.str(), testing::Not(testing::HasSubstr("9e+08")));
  print_heading(verbose, {}, RowDetail::all);
  print_case(verbose, records, {}, RowDetail::all);
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

TEST(Console, DefaultAttributesAreLeftOut) {
  std::vector<Record> records(1);
  records[0].case_id = "softplus[8x64x56x56,fp32,NCHW,beta=1,threshold=20]";
  EXPECT_EQ(shown_id(records[0]), "softplus[8x64x56x56,fp32,NCHW]");
  records[0].case_id = "softplus[8,fp32,ND,beta=2,threshold=20]";
  EXPECT_EQ(shown_id(records[0]), "softplus[8,fp32,ND,beta=2]");
  records[0].case_id = "of_another_version[8,fp32]";
  EXPECT_EQ(shown_id(records[0]), "of_another_version[8,fp32]");
}

TEST(Console, WhatDoesNotFitGoesBelow) {
  std::vector<Record> records = {timed_record({48.5}, "relu[64,fp32]", "fast")};
  records[0].status = Status::failed;
  records[0].reason = "97.72 % inside tolerance, 100 % needed; worst at [0]: 2.5, expected 2.25";
  records[0].reproduce =
      "opbench --case 'relu[64,fp32,ND]' --variant fast --threads 2 --isa avx2 --cold";
  std::ostringstream out;
  print_case(out, records, {false, 60});
  EXPECT_THAT(
      out.str(),
      testing::HasSubstr("  FAILED\n      97.72 % inside tolerance, 100 % needed; worst at [0]:\n"
                         "      2.5, expected 2.25\n"
                         "    again: opbench --case 'relu[64,fp32,ND]' \\\n"
                         "      --variant fast --threads 2 --isa avx2 --cold\n"));
}

}  // namespace opbench::report
