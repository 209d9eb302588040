// Small programs (tests/harness/check/relinked) of the same objects: linked in another order with
// 48 bytes in front, and with one source changed.
#include "harness/check/code_fingerprint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "harness/check/own_code.h"
#include "tensor/error.h"
#include "tests/support/source_tree.h"
#include "tests/support/temp_dir.h"

namespace opbench::check {

TEST(LibraryName, OfALibraryAlone) {
  // void std::vector<int>::_M_realloc_insert<int const&>(iterator, int const&)
  EXPECT_TRUE(
      is_of_library("_ZNSt6vectorIiSaIiEE17_M_realloc_insertIJRKiEEEvN9__gnu_cxx17__normal_"
                    "iteratorIPiS1_EEDpOT_"));
  // fmt::v9::appender fmt::v9::detail::write<char, fmt::v9::appender>(appender, char const*)
  EXPECT_TRUE(is_of_library("_ZN3fmt2v96detail5writeIcNS0_8appenderEEET0_S4_PKc"));
  // std::array<float, 4ul>::operator[](unsigned long)
  EXPECT_TRUE(is_of_library("_ZNSt5arrayIfLm4EEixEm"));
}

// The code of the type is in the function.
TEST(LibraryName, NotWithATypeOfSomebodyElses) {
  // std::vector<opbench::TensorDesc>::reserve(unsigned long)
  EXPECT_FALSE(is_of_library("_ZNSt6vectorIN7opbench10TensorDescESaIS1_EE7reserveEm"));
  // void std::sort<float*, mine::Less>(float*, float*, mine::Less), and Less of no namespace
  EXPECT_FALSE(is_of_library("_ZSt4sortIPfN4mine4LessEEvT_S3_T0_"));
  EXPECT_FALSE(is_of_library("_ZSt4sortIPf4LessEvT_S2_T0_"));
  // mine::scale<float>(float*), mine::scale<std::vector<int>>(std::vector<int>&),
  // main::{lambda()#1}
  EXPECT_FALSE(is_of_library("_ZN4mine5scaleIfEEvPT_"));
  EXPECT_FALSE(is_of_library("_ZN4mine5scaleISt6vectorIiSaIiEEEEvRT_"));
  EXPECT_FALSE(is_of_library("_ZZ4mainENKUlvE_clEv"));
  EXPECT_FALSE(is_of_library("main"));
  EXPECT_FALSE(is_of_library(""));
}

namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

using Fingerprints = std::map<std::string, std::string>;

/// Of the functions that the programs have in common.
Fingerprints fingerprints(const char* program) {
  ProgramCode code(relinked_program(program));
  Fingerprints found;
  for (const char* name : {"first_word", "first_jump", "first_table", "first_calls_second",
                           "second_sum", "second_alone"}) {
    found[name] = code.fingerprint({code.address_of(name)});
  }
  return found;
}

std::set<std::string> changed(const char* program) {
  const Fingerprints before = fingerprints("relinked_forward"), now = fingerprints(program);
  std::set<std::string> names;
  for (const auto& [name, fingerprint] : before) {
    if (now.at(name) != fingerprint) names.insert(name);
  }
  return names;
}

using Names = std::set<std::string>;

}  // namespace

TEST(CodeFingerprint, DoesNotDependOnTheOrderOfLinking) {
  const Fingerprints found = fingerprints("relinked_forward");
  EXPECT_EQ(fingerprints("relinked_backward"), found);
  std::set<std::string> different;
  for (const auto& [name, fingerprint] : found) different.insert(fingerprint);
  EXPECT_EQ(different.size(), found.size()) << "of as many functions";
  ProgramCode forward(relinked_program("relinked_forward")),
      backward(relinked_program("relinked_backward"));
  EXPECT_NE(forward.address_of("second_sum"), backward.address_of("second_sum"));
}

TEST(CodeFingerprint, FollowsTextConstantsTablesAndCalls) {
  EXPECT_EQ(changed("relinked_word"), Names{"first_word"});
  EXPECT_EQ(changed("relinked_constant"), Names{"first_jump"});
  EXPECT_EQ(changed("relinked_callee"),
            (Names{"first_calls_second", "second_alone", "second_sum"}));
}

// What was compiled by another compiler has another library's code in it.
TEST(CodeFingerprint, KnowsTheCompilers) {
  const ProgramImage image(relinked_program("relinked_forward"));
  EXPECT_THAT(image.compilers(), HasSubstr("GCC: ("));
  EXPECT_EQ(ProgramImage(relinked_program("relinked_backward")).compilers(), image.compilers());
}

TEST(CodeFingerprint, ManyRootsAreOne) {
  ProgramCode code(relinked_program("relinked_forward"));
  const std::uint64_t calls = code.address_of("first_calls_second"),
                      sum = code.address_of("second_sum"), alone = code.address_of("second_alone");
  EXPECT_EQ(code.fingerprint({calls, sum}), code.fingerprint({calls})) << "it is called from there";
  EXPECT_EQ(code.fingerprint({sum, alone}), code.fingerprint({alone, sum}));
  EXPECT_NE(code.fingerprint({sum, alone}), code.fingerprint({sum}));
}

TEST(CodeFingerprint, WhatCannotBeReadSaysWhy) {
  const TempDir dir;
  EXPECT_THAT([] { ProgramCode("/no/such/program"); },
              ThrowsMessage<Error>("/no/such/program: cannot be read"));
  const std::string text = dir.write("text", "no program");
  EXPECT_THAT([&] { ProgramCode{text}; }, ThrowsMessage<Error>(text + ": is no ELF file"));
  const std::string stripped = dir.path("stripped"), program = relinked_program("relinked_word");
  ASSERT_EQ(std::system(("strip -o '" + stripped + "' '" + program + "'").c_str()), 0);
  EXPECT_THAT([&] { ProgramCode{stripped}; }, ThrowsMessage<Error>(HasSubstr("was stripped")));
  ProgramCode code(program);
  EXPECT_THAT([&] { code.address_of("nowhere"); },
              ThrowsMessage<Error>("the program has no function nowhere"));
  EXPECT_THAT([&] { code.fingerprint({1}); }, ThrowsMessage<Error>(HasSubstr("no function is at")));
}

}  // namespace opbench::check
