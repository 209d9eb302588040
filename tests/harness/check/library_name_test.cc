#include "harness/check/library_name.h"

#include <gtest/gtest.h>

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

}  // namespace opbench::check
