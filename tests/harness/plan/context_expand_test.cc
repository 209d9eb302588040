#include "harness/plan/context_expand.h"

#include <gtest/gtest.h>

#include "tensor/error.h"
#include "tests/support/refusal.h"

namespace opbench {
namespace {

const Symbols kSymbols = {{"C", 58}, {"N", 2}};

std::string replaced(const std::string& value) {
  return attr_text({.name = "a", .values = {value}, .origin = ""}, kSymbols);
}

/// A block with a symbol `groups` without a default, and `width` with the default 2*C.
BlockTemplate unit() {
  BlockTemplate block;
  block.name = "unit";
  block.symbols = {{"groups", "", "net.yaml:2"}, {"width", "C*2", "net.yaml:3"}};
  return block;
}

Symbols with(const std::vector<SymbolValue>& given) {
  NodeTemplate include;
  include.with = given;
  include.origin = "net.yaml:9";
  return block_symbols(unit(), include, kSymbols, kSymbols);
}

}  // namespace

TEST(ContextSymbols, ExpressionsBecomeNumbers) {
  EXPECT_EQ(replaced("C"), "58");
  EXPECT_EQ(replaced("C*2/N"), "58");
  EXPECT_EQ(replaced("view {N} x {C/2}"), "view 2 x 29");
}

TEST(ContextSymbols, OtherTextsStay) {
  for (const char* text : {"64", "2*3", "mean", "0.5", "NCHW", "C+1"}) {
    EXPECT_EQ(replaced(text), text);
  }
}

TEST(ContextSymbols, ListsAreReplacedOneByOne) {
  EXPECT_EQ(attr_text({.name = "a", .values = {"C", "1", "N*3"}, .is_list = true, .origin = ""},
                      kSymbols),
            "[58, 1, 6]");
}

TEST(ContextSymbols, WhatHasNoValueIsAnError) {
  EXPECT_EQ(refusal_by([] { replaced("{C"); }), "'{C' has no '}' for its '{'");
  EXPECT_NE(refusal_by([] { replaced("{M}"); }), "accepted");
  EXPECT_NE(refusal_by([] { replaced("C/5"); }), "accepted") << "with a remainder";
}

TEST(ContextSymbols, ABlockSeesWhatIsGivenAndItsDefaults) {
  const Symbols symbols = with({{"groups", "N", "net.yaml:10"}});
  EXPECT_EQ(symbols, (Symbols{{"C", 58}, {"N", 2}, {"groups", 2}, {"width", 116}}));
  EXPECT_EQ(with({{"groups", "1", ""}, {"width", "7", ""}}).at("width"), 7);
}

TEST(ContextSymbols, ABlocksErrorsNameTheirPlace) {
  EXPECT_EQ(refusal_by([] { with({}); }),
            "net.yaml:9: block 'unit' needs a value for symbol 'groups'; give it in 'with'");
  EXPECT_EQ(refusal_by([] {
              with({{"group", "1", "net.yaml:10"}});
            }),
            "net.yaml:10: block 'unit' has no symbol 'group'; did you mean 'groups'?");
  EXPECT_EQ(refusal_by([] {
              with({{"groups", "M", "net.yaml:10"}});
            }).find("net.yaml:10: symbol 'groups': "),
            0u);
}

}  // namespace opbench
