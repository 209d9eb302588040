#include "harness/plan/min_cut.h"

#include <gtest/gtest.h>

#include <random>

namespace opbench {

// Source: Cormen, Leiserson, Rivest, Stein, Introduction to Algorithms, figure 26.1: a flow of 23.
TEST(MinCut, FindsTheFlowOfTheTextbook) {
  MinCut cut;
  for (int i = 0; i < 6; ++i) cut.add_vertex();
  for (const auto& [a, b, capacity] : {std::tuple{0, 1, 16},
                                       {0, 2, 13},
                                       {1, 3, 12},
                                       {2, 1, 4},
                                       {2, 4, 14},
                                       {3, 2, 9},
                                       {3, 5, 20},
                                       {4, 3, 7},
                                       {4, 5, 4}}) {
    cut.add_edge(a, b, capacity);
  }
  EXPECT_EQ(cut.value(0, 5), 23);
}

TEST(MinCut, IsNothingWhereNothingLeads) {
  MinCut cut;
  for (int i = 0; i < 3; ++i) cut.add_vertex();
  cut.add_edge(0, 1, 5);
  cut.add_edge(2, 1, 5);
  EXPECT_EQ(cut.value(0, 2), 0);
}

TEST(MinCut, TakesALongChain) {
  constexpr int kLong = 300'000;
  MinCut cut;
  for (int i = 0; i <= kLong; ++i) cut.add_vertex();
  for (int i = 0; i < kLong; ++i) cut.add_edge(i, i + 1, i == kLong / 2 ? 1 : 2, 1);
  EXPECT_EQ(cut.value(0, kLong), 1);
}

// Against every way of cutting eight vertices.
TEST(MinCut, IsTheLeastOfAllCuts) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    MinCut cut;
    int capacity[8][8] = {};
    for (int i = 0; i < 8; ++i) cut.add_vertex();
    for (int edge = 0; edge < 16; ++edge) {
      const int a = int(random() % 8), b = int(random() % 8), both = int(random() % 4);
      if (a == b) continue;
      capacity[a][b] += both;
      capacity[b][a] += both;
      cut.add_edge(a, b, both, both);
    }
    int least = MinCut::kUnlimited;
    for (unsigned side = 0; side < 256; ++side) {
      if ((side & 1) == 0 || (side & 128) != 0) continue;
      int sum = 0;
      for (int a = 0; a < 8; ++a) {
        for (int b = 0; b < 8; ++b) {
          if ((side >> a & 1) != 0 && (side >> b & 1) == 0) sum += capacity[a][b];
        }
      }
      least = std::min(least, sum);
    }
    EXPECT_EQ(cut.value(0, 7), least);
  }
}

}  // namespace opbench
