// Lines of parts: written, read, damaged, and merged.
#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "harness/run/join_results.h"
#include "harness/run/merge_parts.h"
#include "harness/run/part_file.h"
#include "tests/support/file_size_limit.h"
#include "tests/support/records.h"
#include "tests/support/refusal.h"
#include "tests/support/temp_dir.h"

namespace opbench::units {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const std::string kDigest = "0123456789abcdef";

PartHeader header_of(const std::string& plan = kDigest, std::size_t units = 3) {
  PartHeader header;
  header.plan = plan;
  header.units = units;
  header.part = {1, 2};
  header.command = "opbench --out d";
  header.machine.cpu = "A";
  header.machine.cores = 2;
  return header;
}

UnitResult unit_of(std::size_t unit, double us = 10) {
  UnitResult result;
  result.unit = unit;
  result.id = "relu[" + std::to_string(64 + unit) + ",fp32]";
  result.seconds = us / 1e6;
  result.run.cases_run = 1;
  result.run.times.total = result.seconds;
  result.run.records = {timed_record({us, us + 1}, result.id)};
  return result;
}

/// Number of lines of each kind.
struct Counts {
  int headers = 0, units = 0;
};

Counts read(const std::string& text) {
  Counts counts;
  PartReader reader;
  reader.header = [&](const PartHeader&, std::size_t) { ++counts.headers; };
  reader.unit = [&](const PartHeader&, const UnitResult&, std::size_t) { ++counts.units; };
  std::istringstream in(text);
  read_part(in, "p.jsonl", reader);
  return counts;
}

std::string refusal(const std::string& text) {
  return bad_input_by([&] { read(text); });
}

class Parts : public testing::Test, protected TempDir {
 protected:
  /// Writes a file of the units and returns its path.
  std::string part(const std::string& name, const std::vector<UnitResult>& units,
                   const PartHeader& header = header_of()) const {
    std::string text = header_line(header);
    for (const UnitResult& unit : units) text += unit_line(unit);
    return write(name, text);
  }

  static CollectedUnits merged(const std::vector<std::string>& files) {
    CollectedUnits collected;
    for (const std::string& file : files) collected.add_file(file);
    return collected;
  }

  static std::vector<std::string> ids(const ResultsFile& file) {
    std::vector<std::string> ids;
    for (const Record& record : file.run.records) ids.push_back(record.case_id);
    return ids;
  }
};

}  // namespace

TEST(PartLines, WhatIsReadIsWritten) {
  PartReader reader;
  std::string again;
  reader.header = [&](const PartHeader& header, std::size_t) { again += header_line(header); };
  reader.unit = [&](const PartHeader&, const UnitResult& unit, std::size_t) {
    again += unit_line(unit);
  };
  const std::string text = header_line(header_of()) + unit_line(unit_of(2));
  std::istringstream in(text);
  read_part(in, "p.jsonl", reader);
  EXPECT_EQ(again, text);
}

// A process may be killed at any time: whole lines are results, and the rest is ignored.
TEST(PartLines, ATornLineIsNoResult) {
  const std::string whole = header_line(header_of()) + unit_line(unit_of(0));
  const std::string torn = unit_line(unit_of(1));
  for (std::size_t length = 0; length < torn.size(); ++length) {
    EXPECT_EQ(read(whole + torn.substr(0, length)).units, 1) << length;
  }
  EXPECT_EQ(read(whole + torn).units, 2);
  EXPECT_EQ(read("").headers, 0);
}

TEST(PartLines, OthersAreRefusedWithTheirLine) {
  const std::string header = header_line(header_of()), unit = unit_line(unit_of(0));
  EXPECT_THAT(refusal(unit),
              HasSubstr("p.jsonl:1: the file is not a part of opbench run: its first "
                        "line must have the key 'opbench_part'"));
  EXPECT_THAT(refusal(header + "{\n" + unit), HasSubstr("p.jsonl:2: no JSON: "));
  EXPECT_THAT(refusal(header + "[]\n"), HasSubstr("p.jsonl:2: "));
  EXPECT_THAT(refusal(header + unit_line(unit_of(3))),
              HasSubstr("p.jsonl:2: unit is 3; the plan has 3 units"));
  EXPECT_THAT(refusal(header + header_line(header_of("fedcba9876543210"))),
              HasSubstr("p.jsonl:2: plan is 'fedcba9876543210' with 3 units, and "
                        "'0123456789abcdef' with 3 above; a part is of one plan"));
  EXPECT_THAT(refusal(header_line(header_of("xyz"))),
              HasSubstr("plan is 'xyz'; it must be 16 hexadecimal digits"));
  EXPECT_THAT(refusal("{\"opbench_part\": 2}\n"),
              HasSubstr("opbench_part is version 2 of the format; this opbench reads versions up "
                        "to 1"));
  EXPECT_THAT(refusal("{\"opbench_part\": \"1\"}\n"), HasSubstr("p.jsonl:1: opbench_part"));
}

TEST_F(Parts, AFileThatGoesOnCutsWhatWasTornOff) {
  const std::string file = path("p.jsonl");
  { PartFile(file, header_of()).append(unit_of(0)); }
  std::ofstream(file, std::ios::app) << unit_line(unit_of(1)).substr(0, 100);
  { PartFile(file, header_of()).append(unit_of(2)); }
  const CollectedUnits collected = merged({file});
  EXPECT_TRUE(collected.has(0) && collected.has(2));
  EXPECT_THAT(collected.missing(), ElementsAre(1));
}

TEST_F(Parts, OneProcessWritesAFile) {
  const PartFile first(path("p.jsonl"), header_of());
  EXPECT_THAT(refusal_by([&] { PartFile(path("p.jsonl"), header_of()); }),
              EndsWith("p.jsonl': another process is writing it"));
}

// A line that does not fit is removed, so that the file can still be read.
TEST_F(Parts, AFullDiskLosesNothingThatWasWritten) {
  const std::string header = header_line(header_of()), unit = unit_line(unit_of(0));
  const FileSizeLimit limit(header.size() + unit.size() + 10);
  PartFile file(path("p.jsonl"), header_of());
  file.append(unit_of(0));
  EXPECT_THAT(refusal_by([&] { file.append(unit_of(1)); }), EndsWith("File too large"));
  EXPECT_EQ(TempDir::read("p.jsonl"), header + unit);
}

TEST_F(Parts, AMergeHasThePlansOrder) {
  const CollectedUnits collected =
      merged({part("b.jsonl", {unit_of(2), unit_of(0)}), part("a.jsonl", {unit_of(1)})});
  EXPECT_THAT(collected.missing(), IsEmpty());
  const ResultsFile results = collected.results();
  EXPECT_THAT(ids(results), ElementsAre("relu[64,fp32]", "relu[65,fp32]", "relu[66,fp32]"));
  EXPECT_EQ(results.run.cases_run, 3u);
  EXPECT_EQ(results.command, "opbench --out d");
  EXPECT_THAT(results.others, IsEmpty());
}

// Two parallel processes, and one that continued an hour later.
TEST_F(Parts, SamplesOfAllUnitsAreOnOneClock) {
  const auto began = [](UnitResult unit, std::int64_t us) {
    unit.began_us = us;
    for (Sample& sample : unit.run.records[0].times->samples) sample.start_us += 7.5;
    unit.run.records[0].times->samples[1].preemptions = 3;
    return unit;
  };
  constexpr std::int64_t kThen = 1'795'459'200'000'000, kHour = 3'600'000'000;
  const ResultsFile results =
      merged({part("b.jsonl", {began(unit_of(0), kThen + kHour), began(unit_of(2), kThen)}),
              part("a.jsonl", {began(unit_of(1), kThen + 2)})})
          .results();
  const auto samples = [&](std::size_t record) {
    return results.run.records.at(record).times->samples;
  };
  // The first sample began at 7.5 us of unit 2. The clock starts at the whole microsecond before.
  EXPECT_DOUBLE_EQ(samples(2)[0].start_us, 0.5);
  EXPECT_DOUBLE_EQ(samples(2)[1].start_us, 10.5);
  EXPECT_DOUBLE_EQ(samples(1)[0].start_us, 2.5);
  EXPECT_DOUBLE_EQ(samples(0)[0].start_us, 0.5 + double(kHour));
  EXPECT_DOUBLE_EQ(samples(0)[1].duration_us, 11);
  EXPECT_EQ(samples(0)[1].preemptions, 3);
}

TEST_F(Parts, UnitsOfOlderFilesHaveNoTimesOfSamples) {
  auto line = nlohmann::json::parse(unit_line(unit_of(0)));
  for (const char* key : {"start_us", "duration_us", "sample_preemptions"}) {
    line["records"][0].erase(key);
  }
  line.erase("began_us");
  write("a.jsonl", header_line(header_of()) + line.dump() + '\n');
  const ResultsFile results = merged({path("a.jsonl")}).results();
  EXPECT_EQ(results.run.records.at(0).times->samples.at(1).start_us, 0);
  EXPECT_EQ(results.run.records[0].times->samples[1].ns_per_call, 11e3);
}

TEST(PartLines, TimesGoWithTheirSamples) {
  const auto damaged = [](const char* key, const nlohmann::json& value) {
    auto line = nlohmann::json::parse(unit_line(unit_of(0)));
    (std::string(key) == "began_us" ? line[key] : line["records"][0][key]) = value;
    return refusal(header_line(header_of()) + line.dump() + '\n');
  };
  EXPECT_THAT(damaged("start_us", {1.0}),
              HasSubstr("p.jsonl:2: records[0].start_us has 1 numbers for 2 samples"));
  EXPECT_THAT(damaged("duration_us", {1.0, -1.0}), HasSubstr("records[0].duration_us[1] is -1.0"));
  EXPECT_THAT(damaged("sample_preemptions", "x"), HasSubstr("records[0].sample_preemptions is"));
  EXPECT_THAT(damaged("began_us", -1), HasSubstr("began_us is -1"));
}

TEST_F(Parts, PartsOfAnotherPlanAreRefused) {
  PartHeader other = header_of("fedcba9876543210");
  other.command = "opbench --time 1 --out d";
  const std::string a = part("a.jsonl", {unit_of(0)}), b = part("b.jsonl", {}, other);
  EXPECT_EQ(bad_input_by([&] {
              merged({a, b});
            }),
            b + ":1: is of plan fedcba9876543210, and " + a +
                " of plan 0123456789abcdef: its command was opbench --time 1 --out d, and not "
                "opbench --out d; parts of one plan are merged");
  other.machine.revision = "abc";
  EXPECT_THAT(bad_input_by([&] {
                merged({a, part("b.jsonl", {}, other)});
              }),
              HasSubstr(": it was written by opbench  (abc)"));
}

TEST_F(Parts, AUnitTwiceMustBeTheSameButForTimes) {
  const std::string first = part("a.jsonl", {unit_of(0)});
  UnitResult twice = unit_of(0, 20);
  EXPECT_THAT(ids(merged({first, first, part("b.jsonl", {twice})}).results()), SizeIs(1));
  twice.run.records[0].status = Status::suspicious;  // depends on times
  EXPECT_THAT(ids(merged({first, part("b.jsonl", {twice})}).results()), SizeIs(1));
  twice.run.records[0].accuracy = Accuracy{.max_ulp = 1};  // depends on the last call's values
  EXPECT_THAT(ids(merged({first, part("b.jsonl", {twice})}).results()), SizeIs(1));
  twice.run.records[0].status = Status::failed;
  const std::string second = part("b.jsonl", {twice});
  EXPECT_EQ(bad_input_by([&] {
              merged({first, second});
            }),
            second + ":2: unit 0 (relu[64,fp32]) has another result than in " + first +
                ":2; leave one of them out");
}

TEST_F(Parts, TimesOfUnlikeMachinesStayApart) {
  PartHeader other = header_of();
  other.machine.cpu = "B";
  const ResultsFile results =
      merged({part("a.jsonl", {unit_of(0), unit_of(2)}), part("b.jsonl", {unit_of(1)}, other)})
          .results();
  EXPECT_THAT(ids(results), ElementsAre("relu[64,fp32]", "relu[66,fp32]"));
  ASSERT_THAT(results.others, SizeIs(1));
  EXPECT_EQ(results.others[0].machine.cpu, "B");
  EXPECT_THAT(ids(results.others[0]), ElementsAre("relu[65,fp32]"));

  std::ostringstream out;
  write_json(out, results);
  const ResultsFile again = parse_results(out.str(), "r.json");
  ASSERT_THAT(again.others, SizeIs(1));
  EXPECT_THAT(ids(again.others[0]), ElementsAre("relu[65,fp32]"));
  EXPECT_THAT(refusal_by([&] {
                join_results({again, again});
              }),
              HasSubstr("r.json: holds results of 2 different machines"));
}

}  // namespace opbench::units
