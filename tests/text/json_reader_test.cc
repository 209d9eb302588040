// Every error begins with the file and the place.
#include "text/json_reader.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tensor/error.h"
#include "tests/support/refusal.h"

namespace opbench {
namespace {

using testing::ElementsAre;
using testing::StartsWith;

const std::string kFile = "old.json";

/// Message of `read` for the value of "b" in {"a": [{"b": TEXT}]}.
template <class Read>
std::string refusal_of(const std::string& text, const Read& read) {
  const auto json = parse_json("{\"a\": [{\"b\": " + text + "}]}", kFile);
  return refusal_by([&] {
    const JsonValue document(json, kFile);
    document.member("a").elements([&](const JsonValue& element) { read(element.member("b")); });
  });
}

const auto as_integer = [](const JsonValue& value) { value.integer(0, 9); };
const auto as_number = [](const JsonValue& value) { value.number(0, 1); };
const auto as_text = [](const JsonValue& value) { value.text(); };

}  // namespace

TEST(JsonReader, ValuesKnowTheirPlace) {
  EXPECT_EQ(refusal_of("1", [](const JsonValue& value) { value.fail("is odd"); }),
            "old.json: a[0].b is odd");
  EXPECT_EQ(
      refusal_of("1", [](const JsonValue& value) { value.located([] { throw Error("inner"); }); }),
      "old.json: a[0].b: inner");
  EXPECT_EQ(refusal_of("{}", [](const JsonValue& value) { value.member("c"); }),
            "old.json: a[0].b has no 'c'");
  const auto list = parse_json("[]", kFile);
  EXPECT_EQ(refusal_by([&] { JsonValue(list, kFile).member("a"); }),
            "old.json: the file is a list; it must be an object");
}

TEST(JsonReader, NumbersAreOfTheirKindAndRange) {
  EXPECT_EQ(refusal_of("9", as_integer), "accepted");
  for (const char* other : {"10", "-1", "1.0", "18446744073709551615", "true"}) {
    EXPECT_EQ(refusal_of(other, as_integer), std::string("old.json: a[0].b is ") + other +
                                                 "; it must be a whole number from 0 to 9");
  }
  EXPECT_EQ(refusal_of("0.5", as_number), "accepted");
  EXPECT_EQ(refusal_of("\"x\"", as_number),
            "old.json: a[0].b is the text 'x'; it must be a number from 0 to 1");
  EXPECT_EQ(refusal_of("-1",
                       [](const JsonValue& value) {
                         value.number(0, std::numeric_limits<double>::max());
                       }),
            "old.json: a[0].b is -1; it must be a number from 0");
}

TEST(JsonReader, TextsAndTruthValues) {
  EXPECT_EQ(refusal_of("\"x\"", as_text), "accepted");
  EXPECT_EQ(refusal_of("null", as_text), "old.json: a[0].b is null; it must be a text");
  EXPECT_EQ(refusal_of("1", [](const JsonValue& value) { value.boolean(); }),
            "old.json: a[0].b is 1; it must be true or false");
}

// A list of any length needs only the memory of its longest element.
TEST(JsonReader, WhatIsTakenIsNotHeld) {
  std::string text = R"({"kind": "x", "list": [)";
  for (int i = 0; i < 1000; ++i) text += fmt::format("{}{{\"i\": {}}}", i == 0 ? "" : ",", i);
  text += R"(], "inner": [{"list": [7, [8], {"list": [9]}]}]})";
  std::vector<std::string> taken;
  JsonTaking taking{"list", "kind",
                    [&](const std::string& place, const auto& value) {
                      taken.push_back(place + "=" + value.dump());
                    },
                    [&](const std::string& place, std::size_t index, const auto& element) {
                      if (place.empty() && index % 500 == 499) taken.push_back(element.dump());
                      if (!place.empty())
                        taken.push_back(fmt::format("{} {} {}", place, index, element.dump()));
                      return place != "inner[0].list[2]";
                    }};
  std::istringstream in(text);
  const auto left = parse_json(in, kFile, taking, 30);
  EXPECT_THAT(
      taken, ElementsAre("=\"x\"", R"({"i":499})", R"({"i":999})", "inner[0] 0 7", "inner[0] 1 [8]",
                         "inner[0].list[2] 0 9", R"(inner[0] 2 {"list":[9]})"));
  EXPECT_EQ(left.dump(), R"({"kind":"x","list":[],"inner":[{"list":[]}]})");
  std::istringstream again(text);
  taking.element = [](const std::string&, std::size_t, const auto&) { return false; };
  EXPECT_EQ(refusal_by([&] { parse_json(again, kFile, taking, 30); }),
            "old.json: holds more than 30 values");
  std::istringstream blank(" \n");
  EXPECT_EQ(refusal_by([&] { parse_json(blank, kFile, taking); }), "old.json: the file is empty");
}

TEST(JsonReader, MembersComeInTheirOrder) {
  const auto json = parse_json("{\"z\": 1, \"a\": 2}", kFile);
  std::vector<std::string> keys;
  JsonValue(json, kFile).members([&](const std::string& key, const JsonValue&) {
    keys.push_back(key);
  });
  EXPECT_THAT(keys, ElementsAre("z", "a"));
}

TEST(JsonReader, WhatIsNoJsonOrTooMuchIsRefused) {
  EXPECT_EQ(refusal_by([] { parse_json(" \n", kFile); }), "old.json: the file is empty");
  EXPECT_THAT(refusal_by([] { parse_json("{\n\"a\": x}", kFile); }),
              StartsWith("old.json: no JSON: parse error at line 2, column 6: "));
  EXPECT_EQ(refusal_by([] { parse_json(std::string(70, '['), kFile); }),
            "old.json: brackets are nested more than 64 deep");
  EXPECT_EQ(refusal_by([] { parse_json("[1, 2, 3]", kFile, 4); }),
            "old.json: holds more than 4 values")
      << "brackets count";
}

}  // namespace opbench
