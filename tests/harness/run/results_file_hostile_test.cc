// Files that are not valid results: a clear one-line error for each.
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "tensor/error.h"
#include "tests/harness/run/results_text.h"
#include "tests/support/refusal.h"
#include "tests/support/temp_dir.h"

namespace opbench {
namespace {

using Json = nlohmann::ordered_json;
using testing::HasSubstr;
using testing::StartsWith;

Json good() { return Json::parse(good_results()); }

std::string refusal(const std::string& text) {
  return bad_input_by([&] { parse_results(text, "old.json"); });
}

std::string refusal_with(const std::string& pointer, const Json& value) {
  Json json = good();
  json[Json::json_pointer(pointer)] = value;
  return refusal(json.dump());
}

std::string refusal_without(const std::string& parent, const std::string& key) {
  Json json = good();
  json[Json::json_pointer(parent)].erase(key);
  return refusal(json.dump());
}

}  // namespace

TEST(HostileResults, PassesOverKeysOfALaterVersionOfTheProgram) {
  Json json = good();
  json["records"][0]["energy_joule"] = {{"x", 1}};
  json["notes"] = "x";
  EXPECT_EQ(refusal(json.dump()), "accepted");
}

TEST(HostileResults, RefusesALaterFormat) {
  EXPECT_EQ(refusal_with("/opbench", 8),
            "old.json: opbench is version 8 of the format; this opbench reads versions up to 7: "
            "use the version that wrote the file, or a later one");
  EXPECT_THAT(refusal_with("/opbench", 0), HasSubstr("old.json: opbench is 0; it must be a whole"));
  EXPECT_THAT(refusal_with("/opbench", "1"), HasSubstr("opbench is the text '1'; it must be"));
  EXPECT_EQ(refusal("{}"),
            "old.json: the file is not a result of opbench run --json: it has no 'opbench', the "
            "format's version");
  EXPECT_EQ(refusal("[1]"), "old.json: the file is a list; it must be an object");
}

TEST(HostileResults, RefusesWhatIsNoJson) {
  EXPECT_EQ(refusal(""), "old.json: the file is empty");
  EXPECT_EQ(refusal(" \n"), "old.json: the file is empty");
  EXPECT_THAT(refusal("{\"opbench\": 1,\n  x}"),
              StartsWith("old.json: no JSON: parse error at line 2"));
  EXPECT_THAT(refusal("{\"opbench\": \"" + std::string(100000, 'x')),
              testing::AllOf(StartsWith("old.json: no JSON: parse error at line 1"),
                             testing::ResultOf([](const std::string& s) { return s.size(); },
                                               testing::Lt(300u))));
  EXPECT_THAT(refusal("{\"opbench\": 1e999}"), StartsWith("old.json: no JSON: "));
  EXPECT_THAT(refusal("{\"\xff\": 1}"), StartsWith("old.json: no JSON: "));
  EXPECT_EQ(refusal(std::string(1000000, '[')), "old.json: brackets are nested more than 64 deep");
}

TEST(HostileResults, EveryTruncationIsRefused) {
  const std::string text = good().dump();
  for (std::size_t length = 0; length < text.size(); ++length) {
    ASSERT_THAT(refusal(text.substr(0, length)), StartsWith("old.json: ")) << length;
  }
}

TEST(HostileResults, SaysWhereAndWhat) {
  EXPECT_EQ(refusal_with("/records/1/median_us", "fast"),
            "old.json: records[1].median_us is the text 'fast'; it must be a number from 0");
  EXPECT_EQ(refusal_with("/records/1/median_us", -1),
            "old.json: records[1].median_us is -1; it must be a number from 0");
  EXPECT_EQ(refusal_with("/records/0/samples_us/1", nullptr),
            "old.json: records[0].samples_us[1] is null; it must be a number from 0 to 1e+300");
  EXPECT_EQ(refusal_with("/records/0/threads", 1.5),
            "old.json: records[0].threads is 1.5; it must be a whole number from 1 to 2147483647");
  EXPECT_EQ(refusal_with("/records/0/threads", 18446744073709551615u),
            "old.json: records[0].threads is 18446744073709551615; it must be a whole number from "
            "1 to 2147483647");
  EXPECT_EQ(refusal_with("/records/0/status", "great"),
            "old.json: records[0].status: status 'great' must be one of passed, failed, "
            "mistrusted, suspicious, skipped, errored, unverified, xfailed");
  EXPECT_EQ(refusal_with("/records/0/bound", "cache"),
            "old.json: records[0].bound is 'cache'; it must be memory, compute or latency");
  EXPECT_EQ(refusal_with("/records/0/backward", 0),
            "old.json: records[0].backward is 0; it must be true or false");
  EXPECT_EQ(refusal_with("/records/0/case", nullptr),
            "old.json: records[0].case is null; it must be a text");
  EXPECT_EQ(refusal_with("/records/0/iterations", Json::array({1})),
            "old.json: records[0].iterations has 1 numbers and samples_us has 2; both must have as "
            "many");
  EXPECT_EQ(refusal_with("/machine/libraries/HDF5", 1),
            "old.json: machine.libraries.HDF5 is 1; it must be a text");
  EXPECT_EQ(refusal_with("/run/seconds", Json::array()),
            "old.json: run.seconds is a list; it must be an object");
  EXPECT_EQ(refusal_with("/records", "none"),
            "old.json: records is the text 'none'; it must be a list");
  EXPECT_EQ(refusal_with("/records/1", 3), "old.json: records[1] is 3; it must be an object");
}

TEST(HostileResults, MissesNothing) {
  for (const char* key : {"command", "machine", "run", "records"}) {
    EXPECT_EQ(refusal_without("", key), std::string("old.json: the file has no '") + key + "'");
  }
  const Json json = good();
  for (const auto& [key, value] : json["records"][0].items()) {
    const std::set<std::string> computed = {"disturbed", "noise_percent", "throttled"};
    if (computed.contains(key)) continue;  // from the samples
    EXPECT_EQ(refusal_without("/records/0", key), "old.json: records[0] has no '" + key + "'");
  }
  for (const auto& [key, value] : json["machine"].items()) {
    EXPECT_EQ(refusal_without("/machine", key), "old.json: machine has no '" + key + "'");
  }
}

// A shorter hole ends the parser at its first byte; nothing is kept in memory.
TEST(HostileResults, ALargeFileOfZerosIsRefusedAtOnce) {
  const TempDir directory;
  const std::string path = directory.write("huge.json", "");
  std::filesystem::resize_file(path, std::uintmax_t{2} << 30);
  EXPECT_THAT(bad_input_by([&] { read_results_file(path); }),
              HasSubstr("huge.json: the file is empty"));
}

TEST(HostileResults, RecordsThatComeBeforeTheVersionAreReadAfterIt) {
  Json json = good();
  const Json version = json["opbench"];
  json.erase("opbench");
  json["opbench"] = version;
  EXPECT_EQ(parse_results(json.dump(), "old.json").run.records.size(), 2u);
  EXPECT_EQ(refusal(R"({"records": [{}], "opbench": 99})"),
            refusal(R"({"opbench": 99, "records": [{}]})"));
}

TEST(HostileResults, OfAKeyThatIsThereTwiceTheLastOneCounts) {
  const std::string records = good()["records"].dump();
  std::string text = good().dump();
  text.insert(1, "\"opbench\": 5, \"records\": " + records + ",");
  EXPECT_EQ(parse_results(text, "old.json").run.records.size(), 2u);
}

// Results inside a record are ignored.
TEST(HostileResults, RecordsInRecordsAreNobodysBusiness) {
  Json json = good();
  json["records"][1]["inner"] = {{"opbench", 5}, {"records", {1, 2}}};
  json["others"] = Json::array({good(), good()});
  const ResultsFile file = parse_results(json.dump(), "old.json");
  EXPECT_EQ(file.run.records.size(), 2u);
  ASSERT_EQ(file.others.size(), 2u);
  EXPECT_EQ(file.others[1].run.records.size(), 2u);
  json["others"][1]["records"][1].erase("op");
  EXPECT_EQ(refusal(json.dump()), "old.json: others[1].records[1] has no 'op'");
}

TEST(HostileResults, RefusesWhatIsNoReadableFile) {
  namespace fs = std::filesystem;
  EXPECT_THROW(read_results_file("/no/such/file.json"), Error);
  EXPECT_THROW(read_results_file("/dev/zero"), Error);
  const TempDir directory;
  EXPECT_THROW(read_results_file(directory.directory()), Error);
  const fs::path path = directory.write("huge.json", "{");
  fs::resize_file(path, (std::uintmax_t{2} << 30) + 1);  // a hole that takes no space
  try {
    read_results_file(path);
    ADD_FAILURE() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.what(), "cannot read '" + path.string() + "': it is larger than 2048 MiB");
  }
}

}  // namespace opbench
