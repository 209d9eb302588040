#include "harness/report/page.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "tensor/error.h"
#include "tests/support/source_tree.h"
#include "text/input_file.h"

namespace opbench::pages {
namespace {

using Json = nlohmann::ordered_json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string page_of(const std::vector<PageInput>& inputs) {
  std::ostringstream out;
  write_page(out, inputs);
  return out.str();
}

PageInput sample(const std::string& name) {
  return {name, read_input_file(source_file("results/samples/" + name), "")};
}

// The data as a browser reads them: up to the first end of a script.
Json data_of(const std::string& page) {
  const std::string begin = "<script type=\"application/json\" id=\"data\">";
  const std::size_t first = page.find(begin) + begin.size();
  return Json::parse(page.substr(first, page.find("</script", first) - first));
}

// Restores rows like the script of the page.
Json without_tables(const Json& value) {
  if (!value.is_structured()) return value;
  Json result = Json::array();
  if (value.is_object() && value.contains("$keys")) {
    for (const Json& row : value["$rows"]) {
      Json object = Json::object();
      for (std::size_t i = 0; i < row.size(); ++i) {
        object[value["$keys"][i].get<std::string>()] = without_tables(row[i]);
      }
      result.push_back(object);
    }
    return result;
  }
  result = value;
  for (Json& child : result) child = without_tables(child);
  return result;
}

}  // namespace

// Results in the present format are shown as the run wrote them.
TEST(Page, HoldsTheDataOfItsInputs) {
  const PageInput run = sample("results.json"), compare = sample("compare.json");
  const Json data = data_of(page_of({run, compare}));
  ASSERT_EQ(data["inputs"].size(), 2u);
  EXPECT_EQ(data["inputs"][0]["kind"], "run");
  EXPECT_EQ(data["inputs"][0]["path"], "results.json");
  EXPECT_EQ(without_tables(data["inputs"][0]["data"])["records"], Json::parse(run.text)["records"]);
  EXPECT_EQ(data["inputs"][1]["kind"], "compare");
  EXPECT_EQ(without_tables(data["inputs"][1]["data"]), Json::parse(compare.text));
}

// Times of different machines are not comparable, so each machine has its own tab.
TEST(Page, EveryMachineOfMergedResultsIsShown) {
  const PageInput run = sample("results.json");
  Json merged = Json::parse(run.text), other = merged;
  other["machine"]["cpu"] = "another";
  merged["others"] = Json::array({other});
  const Json data = data_of(page_of({{"merged.json", merged.dump()}}));
  ASSERT_EQ(data["inputs"].size(), 2u) << "no case was measured twice on a machine";
  EXPECT_EQ(data["inputs"][1]["path"], "merged.json, machine 2");
  EXPECT_EQ(data["inputs"][1]["data"]["machine"]["cpu"], "another");
  EXPECT_EQ(without_tables(data["inputs"][1]["data"])["records"], other["records"]);
}

// HTML ends a script at "</script" and hides it behind "<!--" (WHATWG HTML 13.2.5.4 and 13.2.5.17).
TEST(Page, NoNameEndsTheScriptThatHoldsIt) {
  Json file = Json::parse(sample("results.json").text);
  const std::string hostile = "</script><script>alert(1)</script><!--<script>";
  file["records"][0]["name"] = hostile;
  file["command"] = hostile;
  const std::string page = page_of({{hostile, file.dump()}});
  EXPECT_THAT(page, Not(HasSubstr("alert(1)</script>")));
  const Json data = data_of(page);
  EXPECT_EQ(data["inputs"][0]["path"], hostile);
  EXPECT_EQ(without_tables(data["inputs"][0]["data"])["records"][0]["name"], hostile);
}

TEST(Page, BytesThatAreNoTextDoNotLoseIt) {
  EXPECT_THAT(page_of({{"\xff\xfe.json", sample("results.json").text}}), HasSubstr("\xEF\xBF\xBD"));
}

TEST(Page, EscapesWhatBeginsATagOnly) {
  EXPECT_EQ(script_text("[\"<a>\",\"<\"]"), "[\"\\u003ca>\",\"\\u003c\"]");
  EXPECT_EQ(script_text("[1]"), "[1]");
}

TEST(Page, NeedsNothingElseAndIsSmall) {
  const std::string page = page_of({});
  EXPECT_LT(page.size(), 1'500'000u);
  EXPECT_THAT(page, AllOf(HasSubstr("default-src 'none'"), Not(HasSubstr("{{")),
                          Not(HasSubstr("src=\"http")), Not(HasSubstr("href=\"http"))));
  EXPECT_TRUE(std::regex_search(page, std::regex("script-src 'sha256-[A-Za-z0-9+/]{43}='")));
}

TEST(Page, ListsOfEqualObjectsBecomeTables) {
  const Json list =
      Json::parse(R"([{"a":1,"b":[]},{"a":2,"b":null},{"a":3,"b":"x"},{"a":4,"b":{}}])");
  EXPECT_EQ(with_tables(list),
            Json::parse(R"({"$keys":["a","b"],"$rows":[[1,[]],[2,null],[3,"x"],[4,{}]]})"));
  EXPECT_EQ(without_tables(with_tables(list)), list);
  for (const char* text : {R"([{"a":1}])", R"([1,2,3,4,5])", R"([{},{},{},{}])", "null",
                           R"([{"a":1},{"a":1},{"a":1},{"b":1}])"}) {
    EXPECT_EQ(with_tables(Json::parse(text)), Json::parse(text)) << text;
  }
}

// Ten calls of 10 us, then ten of 15 us: one change, at the first slower call.
TEST(Page, AHistoryIsTracksWithTheirChanges) {
  std::string text;
  for (int day = 10; day < 30; ++day) {
    const double us = (day < 20 ? 10 : 15) + 0.01 * (day % 3);
    text += Json({{"opbench_history", 1},
                  {"date", "2026-01-" + std::to_string(day)},
                  {"machine", {{"cpu", "cpu"}, {"cores", 2}, {"isa", "avx2"}}},
                  {"current", {{"revision", "r" + std::to_string(day)}}},
                  {"items",
                   {{{"case", "relu[8]"},
                     {"variant", "native"},
                     {"threads", 1},
                     {"verdict", "SAME"},
                     {"current_us", us}}}}})
                .dump() +
            "\n";
  }
  text += "{\"opbench_hist";  // as an ended run leaves it
  const Json data = page_inputs({"h.jsonl", text})[0];
  EXPECT_EQ(data["kind"], "history");
  const Json& tracks = data["data"]["tracks"];
  ASSERT_EQ(tracks.size(), 1u);
  EXPECT_EQ(tracks[0]["points"].size(), 20u);
  EXPECT_EQ(tracks[0]["changes"], Json({10}));
  EXPECT_EQ(tracks[0]["points"][10]["revision"], "r20");
  EXPECT_EQ(tracks[0]["machine"], "cpu, 2 cores, avx2");
}

// Machines, threads and measures have separate tracks. An untimed run has no points.
TEST(Page, TracksAreOfOneMachineAndMeasure) {
  const auto run = [](const char* cpu, int threads, const char* measure, const Json& us) {
    return Json{{"machine", {{"cpu", cpu}, {"cores", 1}, {"isa", "avx2"}}},
                {"date", "2026-01-01"},
                {"current", {{"revision", "r"}}},
                {"items",
                 {{{"case", "relu[8]"},
                   {"variant", "native"},
                   {"threads", threads},
                   {"measure", measure},
                   {"speed", {{"current_us", us}}}}}}};
  };
  EXPECT_EQ(tracks_of(Json::array()), Json::array());
  const Json tracks = tracks_of({run("a", 1, "call", 5.0), run("b", 1, "call", 5.0),
                                 run("a", 2, "call", 5.0), run("a", 1, "first call", nullptr)});
  ASSERT_EQ(tracks.size(), 4u);
  EXPECT_EQ(tracks[0]["points"].size(), 1u);
  EXPECT_EQ(tracks[3]["kind"], "first call");
  EXPECT_EQ(tracks[3]["points"].size(), 0u);
}

// Two runs of one machine are one track of two points, ordered by date.
TEST(Page, SeveralRunsAreTracksToo) {
  const PageInput sample_run = sample("results.json");
  Json older = Json::parse(sample_run.text);
  older["machine"]["date"] = "2020-01-01T00:00:00Z";
  const Json data = data_of(page_of({sample_run, {"older.json", older.dump()}}));
  ASSERT_EQ(data["inputs"].size(), 3u);
  EXPECT_EQ(data["inputs"][2]["kind"], "history");
  const Json tracks = without_tables(data["inputs"][2]["data"]["tracks"]);
  EXPECT_EQ(tracks[0]["points"].size(), 2u);
  EXPECT_EQ(tracks[0]["points"][0]["date"], "2020-01-01T00:00:00Z");
  EXPECT_EQ(tracks[0]["points"][1]["us"], older["records"][0]["median_us"]);
}

TEST(Page, OtherFilesAreRefusedWithWhatIsKnown) {
  for (const char* text : {"{}", "[1]", "3"}) {
    try {
      page_of({{"other.json", text}});
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), AllOf(HasSubstr("other.json: no file that a page can show"),
                                      HasSubstr("opbench run --json")));
    }
  }
  for (const char* items : {"3", "[3]", "[{}]"}) {
    const std::string line =
        std::string(R"({"opbench_history":1,"machine":{},"current":{},"items":)");
    EXPECT_THROW(page_of({{"bad.jsonl", line + items + "}"}}), Error) << items;
  }
  EXPECT_THROW(page_of({{"cut.json", "{\"opbench\": 5"}}), Error);
  EXPECT_THROW(page_of({{"old.json", "{\"opbench\": 99}"}}), Error);
}

// Pages and console use the same colours for a verdict.
TEST(Page, HasTheConsolesColours) {
  const Json colours = data_of(page_of({}))["colours"];
  EXPECT_EQ(colours["passed"], "green");
  EXPECT_EQ(colours["failed"], "red");
  EXPECT_EQ(colours["mistrusted"], "yellow");
  EXPECT_EQ(colours["skipped"], "dim");
}

}  // namespace opbench::pages
