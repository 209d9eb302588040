#include "harness/report/count_table.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "harness/report/report.h"
#include "harness/run/counts.h"
#include "tests/harness/run/results_text.h"

namespace opbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Record counted_record() {
  Record record;
  record.case_id = "relu[64,fp32]";
  record.variant = "native";
  record.status = Status::passed;
  record.bytes = 512;
  set_times(record, {Sample{.ns_per_call = 1000, .iterations = 10}});
  Counts counts = Counts::unknown();
  counts.calls = 10;
  counts[Counter::page_faults] = 5;
  counts[Counter::instructions] = 12'340'000;
  counts[Counter::cycles] = 6'170'000;
  counts.counted_share = 0.5;
  record.times->counts = counts.per_call();
  return record;
}

}  // namespace

TEST(CountTable, HasWhatWasCounted) {
  const Record records[] = {counted_record(), Record()};
  const TextTable table = report::count_table(records, false);
  std::vector<std::string> titles;
  for (const TextTable::Column& column : table.columns) titles.push_back(column.title);
  EXPECT_THAT(titles,
              ElementsAre("per call", "faults", "instr", "cycles", "IPC", "instr/B", "counted"));
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_THAT(table.rows[0], ElementsAre("native", "0.5", "1.23M", "617k", "2", "2.41k", "0.5"));
  EXPECT_TRUE(report::count_table(std::span(records).subspan(1), false).columns.empty());
}

TEST(CountTable, CsvHasColumnsOnlyIfARecordHasCounts) {
  const Record records[] = {Record(), counted_record()};
  std::ostringstream with, without;
  report::write_csv(with, records);
  report::write_csv(without, std::span(records).first(1));
  EXPECT_THAT(with.str(), HasSubstr(",page_faults,instructions,cycles,instructions_per_cycle,"
                                    "instructions_per_byte,counted_share\n"));
  EXPECT_THAT(with.str(), HasSubstr(",,,,,,\n")) << "the record without counts";
  EXPECT_THAT(without.str(), testing::Not(HasSubstr("page_faults")));
}

TEST(CountTable, JsonKeepsCountsAndReadersMayLackThem) {
  RunResult run;
  run.records = {counted_record()};
  const std::string text = results_text(run);
  const auto counters = nlohmann::json::parse(text)["records"][0]["counters"];
  EXPECT_EQ(counters["instructions_per_cycle"], 2);
  EXPECT_FALSE(counters.contains("energy_j"));
  const Record read = parse_results(text, "x.json").run.records.at(0);
  EXPECT_EQ((*read.times->counts)[Counter::page_faults], 0.5);
  EXPECT_EQ(read.times->counts->counted_share, 0.5);
  EXPECT_EQ(results_text(parse_results(text, "x.json").run), text);
  auto older = nlohmann::json::parse(text);
  older["records"][0].erase("counters");
  EXPECT_FALSE(parse_results(older.dump(), "x.json").run.records.at(0).times->counts);
}

}  // namespace opbench
