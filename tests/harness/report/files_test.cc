#include <gmock/gmock.h>

#include <sstream>

#include "harness/report/report.h"

namespace opbench::report {

// A spreadsheet skips a line break before "=".
TEST(ReportCsv, WritesNoFormula) {
  std::vector<Record> records(1);
  records[0].op = "\n=1+1";
  std::ostringstream out;
  write_csv(out, records);
  EXPECT_THAT(out.str(), testing::HasSubstr("\"'\n=1+1\""));
}

}  // namespace opbench::report
