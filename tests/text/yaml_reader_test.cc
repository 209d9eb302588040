// Every error begins with "file:line:".
#include "text/yaml_reader.h"

#include <gmock/gmock.h>

#include "tests/support/refusal.h"

namespace opbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

const std::string kPath = "x.yaml";

/// Returns the value of `key` in a document.
YamlValue value_of(const std::string& text, const std::string& key) {
  std::vector<YamlValue> found;
  parse_yaml(text, kPath).mapping("the file", [&](const std::string& name, const YamlValue& value) {
    if (name == key) found.push_back(value);
  });
  return found.at(0);
}

std::string refusal_of_integer(const std::string& value) {
  return refusal_by([&] { value_of("a: 1\nb: " + value, "b").integer("b", -3, 5); });
}

}  // namespace

TEST(YamlReader, ASecondDocumentIsNotLeftUnread) {
  const auto second = [](const std::string& text) {
    return refusal_by([&] { parse_yaml(text, kPath); });
  };
  EXPECT_EQ(second("a: 1\n---\nb: 1\n"), "x.yaml:2: a second document begins; a file has one");
  EXPECT_THAT(second("---\n\n# x\n---\n"), StartsWith("x.yaml:4: a second document"));
  EXPECT_THAT(second("a: 1\n...\n\nb: 1\n"), StartsWith("x.yaml:4: a second document"));
  EXPECT_THAT(second("a: 1\n--- b"), StartsWith("x.yaml:2: a second document"));
  EXPECT_THAT(second("a: |\n  x\n---\t\n"), StartsWith("x.yaml:3: a second document"));
  for (const char* one :
       {"", "# x\n", "---\na: 1\n", "%YAML 1.2\n---\na: 1\n...\n", "a: 1\n---b: 1\n",
        "a: |\n  ---\n  x\n", "a: 1\n...\n\n# end\n...\n", "--- {a: 1}\r\n...\r\n"}) {
    EXPECT_EQ(second(one), "accepted") << one;
  }
}

TEST(YamlReader, ValuesKnowTheirLine) {
  EXPECT_EQ(value_of("a: 1\n\nb: 2\n", "b").place(), "x.yaml:3");
  EXPECT_EQ(refusal_by([] { value_of("a: 1\n\nb: 2\n", "b").fail("no"); }), "x.yaml:3: no");
  EXPECT_EQ(refusal_by([] { value_of("b: 2", "b").located([] { throw Error("inner"); }); }),
            "x.yaml:1: inner");
}

TEST(YamlReader, WholeNumbers) {
  EXPECT_EQ(value_of("b: -3", "b").integer("b", -3, 5), -3);
  EXPECT_EQ(value_of("b: 5", "b").integer("b", -3, 5), 5);
  EXPECT_EQ(refusal_of_integer("6"), "x.yaml:2: b is '6'; it must be a whole number from -3 to 5");
  for (const char* other : {"-4", "1.0", "0x1", "1 2", "''", "99999999999999999999"}) {
    EXPECT_THAT(refusal_of_integer(other), HasSubstr("a whole number from -3 to 5")) << other;
  }
  EXPECT_THAT(refusal_of_integer("[1]"), StartsWith("x.yaml:2: b is a list; "));
  EXPECT_THAT(refusal_of_integer("{c: 1}"), StartsWith("x.yaml:2: b is a mapping; "));
  EXPECT_THAT(refusal_of_integer(""), StartsWith("x.yaml:2: b is nothing; "));
}

TEST(YamlReader, NumbersSeedsAndSwitches) {
  EXPECT_EQ(value_of("b: 2.5e-1", "b").number("b", 0, 1), 0.25);
  EXPECT_EQ(refusal_by([] { value_of("b: nan", "b").number("b", 0, 1); }),
            "x.yaml:1: b is 'nan'; it must be a number from 0 to 1");
  EXPECT_EQ(value_of("b: 18446744073709551615", "b").seed("b"), 0xFFFFFFFFFFFFFFFFull);
  EXPECT_EQ(refusal_by([] { value_of("b: -1", "b").seed("b"); }),
            "x.yaml:1: b is '-1'; it must be a whole number from 0 to 2^64-1");
  EXPECT_TRUE(value_of("b: true", "b").boolean("b"));
  EXPECT_EQ(refusal_by([] { value_of("b: yes", "b").boolean("b"); }),
            "x.yaml:1: b is 'yes'; it must be true or false");
}

TEST(YamlReader, ListsAndScalars) {
  std::vector<std::string> texts;
  for (const YamlValue& value : value_of("b: [x, 2]", "b").list("b")) {
    texts.push_back(value.text("an element"));
  }
  EXPECT_THAT(texts, ElementsAre("x", "2"));
  EXPECT_EQ(value_of("b: x", "b").list("b", true).size(), 1u);
  EXPECT_EQ(refusal_by([] { value_of("b: x", "b").list("b"); }),
            "x.yaml:1: b is 'x'; it must be a list");
  EXPECT_EQ(value_of("b: [1,   2]", "b").flow_text(), "[1, 2]");
  EXPECT_EQ(value_of("b: 0.50", "b").flow_text(), "0.50") << "as written";
}

TEST(YamlReader, KeysAreKnownAndStandOnce) {
  const auto ignore = [](const std::string&, const YamlValue&) {};
  const auto read = [&](const std::string& text) {
    return refusal_by([&] { parse_yaml(text, kPath).mapping("a case", {"op", "inputs"}, ignore); });
  };
  EXPECT_EQ(read("op: relu"), "accepted");
  EXPECT_EQ(read("op: relu\nimputs: 1"),
            "x.yaml:2: unknown key 'imputs' in a case; did you mean 'inputs'?");
  EXPECT_EQ(read("op: a\nop: b"), "x.yaml:2: key 'op' of a case occurs twice");
  EXPECT_EQ(read("[1]"),
            "x.yaml:1: a case is a list; it must be a mapping with the keys op, inputs");
  EXPECT_EQ(read(""), "accepted") << "an empty file is an empty mapping";
}

TEST(YamlReader, WhatIsNoYamlOrTooDeepIsRefused) {
  EXPECT_THAT(refusal_by([] { parse_yaml("a: [1\nb: 2", kPath); }),
              StartsWith("x.yaml:1: the '[' of this line is not closed"));
  EXPECT_EQ(refusal_by([] { parse_yaml("a:\n\t- 1\n", kPath); }),
            "x.yaml:2: a tab indents this line; YAML allows spaces only");
  EXPECT_EQ(refusal_by([] { parse_yaml("a: '['  # [\nb: [1, [2]\nc: {}\n", kPath); }),
            "x.yaml:2: the '[' of this line is not closed");
  EXPECT_THAT(refusal_by([] { parse_yaml("a: ]\n", kPath); }), StartsWith("x.yaml:1: not YAML: "));
  EXPECT_EQ(refusal_by([] { parse_yaml("\n" + std::string(65, '['), kPath); }),
            "x.yaml:2: brackets are nested more than 64 deep");
}

// A word is shortened between its letters, not inside one of three bytes.
TEST(YamlReader, MessagesAreShort) {
  const std::string begin(29, 'a'), end(270, 'z');
  EXPECT_EQ(refusal_by([&] { value_of("b: " + begin + "\u20ac" + end, "b").text("b"); }),
            "x.yaml:1: b is '" + begin + " ... 243 more bytes ... " + std::string(30, 'z') +
                "'; it must be a word of at most 256 bytes");
}

}  // namespace opbench
