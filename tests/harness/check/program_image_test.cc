// The programs of tests/harness/check/relinked, whose sources say what is in them.
#include "harness/check/program_image.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "tensor/error.h"
#include "tests/support/source_tree.h"
#include "tests/support/temp_dir.h"

namespace opbench::check {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

class ProgramImageTest : public testing::Test, protected TempDir {
 protected:
  static const ProgramImage& image() {
    static const ProgramImage image(relinked_program("relinked_forward"));
    return image;
  }
  static const ProgramSymbol& function(std::string_view name) {
    const ProgramSymbol* found = image().function(name);
    if (found == nullptr) throw Error(std::string(name));
    return *found;
  }
};

}  // namespace

TEST_F(ProgramImageTest, KnowsAFunctionFromItsFirstToItsLastByte) {
  const ProgramSymbol& word = function("first_word");
  EXPECT_TRUE(word.is_function);
  EXPECT_FALSE(word.is_weak);
  ASSERT_LT(word.begin, word.end);
  EXPECT_EQ(image().symbol_at(word.begin), &word);
  EXPECT_EQ(image().symbol_at(word.end - 1), &word);
  EXPECT_NE(image().symbol_at(word.end), &word);
  EXPECT_NE(image().symbol_at(word.begin - 1), &word);
}

TEST_F(ProgramImageTest, HasNoSymbolOfOtherNamesAndPlaces) {
  EXPECT_EQ(image().function("first_nothing"), nullptr);
  EXPECT_EQ(image().function("padding_constant"), nullptr) << "a constant is no function";
  EXPECT_EQ(image().symbol_at(0), nullptr);
  EXPECT_EQ(image().symbol_at(UINT64_MAX), nullptr);
}

// Inline functions of inline.h and second.cc: the linker picks one of their copies.
TEST_F(ProgramImageTest, CallsInlineFunctionsWeak) {
  EXPECT_TRUE(function("_ZN7library7CountedD1Ev").is_weak);
  EXPECT_TRUE(function("_ZN7opbench5shareEd").is_weak);
  EXPECT_FALSE(function("second_alone").is_weak);
}

// first_calls_second calls second_sum: 4 bytes that hold the way to it from behind them.
TEST_F(ProgramImageTest, HasTheRelocationsOfAFunction) {
  const ProgramSymbol& caller = function("first_calls_second");
  const ProgramSymbol& callee = function("second_sum");
  const auto found = image().relocations(caller.begin, caller.end);
  ASSERT_FALSE(found.empty());
  EXPECT_TRUE(std::is_sorted(found.begin(), found.end(),
                             [](const auto& a, const auto& b) { return a.at < b.at; }));
  EXPECT_TRUE(std::all_of(found.begin(), found.end(), [&](const auto& one) {
    return one.at >= caller.begin && one.at < caller.end;
  }));
  const auto call = std::find_if(found.begin(), found.end(),
                                 [](const auto& one) { return one.name == "second_sum"; });
  ASSERT_NE(call, found.end());
  EXPECT_EQ(call->kind, ProgramRelocation::relative);
  EXPECT_EQ(call->target, callee.begin - 4);
  EXPECT_FALSE(call->is_import);
  EXPECT_TRUE(image().relocations(caller.begin, caller.begin).empty());
}

// first_jump counts its calls in a variable of the thread, and calls sin of the library.
TEST_F(ProgramImageTest, KnowsVariablesOfThreadsAndImports) {
  const ProgramSymbol& jump = function("first_jump");
  const auto own = image().relocations(jump.begin, jump.end);
  EXPECT_TRUE(std::any_of(own.begin(), own.end(), [](const auto& one) {
    return one.kind == ProgramRelocation::thread && one.name == "calls";
  }));
  const auto all = image().relocations(0, UINT64_MAX);
  EXPECT_TRUE(std::any_of(all.begin(), all.end(), [](const auto& one) {
    return one.is_import && one.name.starts_with("sin");
  }));
}

TEST_F(ProgramImageTest, HasTheBytesOfItsSections) {
  const ProgramSymbol& word = function("first_word");
  EXPECT_EQ(image().bytes(word.begin, 8).size(), 8U);
  EXPECT_TRUE(image().bytes(0, 8).empty());
  EXPECT_TRUE(image().bytes(UINT64_MAX - 8, 8).empty());
  // A range beyond a section ends with it.
  EXPECT_LT(image().bytes(word.begin, UINT64_MAX).size(), std::size_t{1} << 30);
}

TEST_F(ProgramImageTest, SaysWhatCompiledIt) {
  EXPECT_NE(image().compilers(), "");
  EXPECT_EQ(image().compilers(), ProgramImage(relinked_program("relinked_backward")).compilers())
      << "the order of linking does not count";
}

TEST_F(ProgramImageTest, SaysWhyAFileCannotBeRead) {
  EXPECT_THAT([&] { ProgramImage image(path("none")); },
              ThrowsMessage<Error>(HasSubstr("none: cannot be read")));
  EXPECT_THAT([&] { ProgramImage image(write("text", "no program\n")); },
              ThrowsMessage<Error>(HasSubstr("text: is no ELF file")));
  EXPECT_THAT([&] { ProgramImage image(write("empty", "")); },
              ThrowsMessage<Error>(HasSubstr("empty: is no ELF file")));
}

// The table of sections is at the end: without it there are no symbols, wherever the cut is.
TEST_F(ProgramImageTest, RefusesAProgramThatWasCut) {
  const std::string whole = text_of(relinked_program("relinked_forward"));
  for (std::size_t part = 1; part < 40; ++part) {
    const std::string cut = write("cut", whole.substr(0, whole.size() * part / 40));
    EXPECT_THROW(ProgramImage image(cut), Error) << part << " of 40";
  }
}

TEST_F(ProgramImageTest, RefusesCodeOfAnotherMachine) {
  std::string other = text_of(relinked_program("relinked_forward"));
  other[18] = static_cast<char>(183);  // e_machine: EM_AARCH64
  EXPECT_THAT([&] { ProgramImage image(write("arm", other)); },
              ThrowsMessage<Error>(HasSubstr("only code of x86-64 is understood")));
}

}  // namespace opbench::check
