#include "compare/msaccucmp/kept_rows.h"

#include <gtest/gtest.h>

namespace opbench {

TEST(KeptRows, ReturnsTheRowsThatWereAdded) {
  const DumpEntry actual, expected;
  const MsaccucmpRow rows[] = {{"7", "Mul", "", "", {&actual, &expected}},
                               {"", "NaN", "/a name with more than 15 letters/1", "why", {}}};
  KeptRows kept;
  for (const MsaccucmpRow& row : rows) kept.add(row);
  ASSERT_EQ(kept.size(), 2u);
  for (const std::size_t place : {1, 0}) {
    const MsaccucmpRow row = kept[place], &added = rows[place];
    EXPECT_EQ(row.index, added.index);
    EXPECT_EQ(row.npu_dump, added.npu_dump);
    EXPECT_EQ(row.golden, added.golden);
    EXPECT_EQ(row.reason, added.reason);
    EXPECT_EQ(row.tensors.actual, added.tensors.actual);
    EXPECT_EQ(row.tensors.expected, added.tensors.expected);
  }
}

TEST(KeptMeasures, ReturnsWhatWasPutAndElseNothing) {
  KeptMeasures kept(4);
  MsaccucmpMeasures usual, booleans, unreadable;
  usual.sums.count = 5;
  booleans.booleans.count = 6;
  usual.is_done = booleans.is_done = unreadable.is_done = true;
  unreadable.error = "damaged";
  kept.put(0, usual);
  kept.put(1, booleans);
  kept.put(3, unreadable);
  EXPECT_EQ(kept[0].sums.count, 5);
  EXPECT_TRUE(kept[0].is_done);
  EXPECT_EQ(kept[1].booleans.count, 6);
  EXPECT_FALSE(kept[2].is_done);
  EXPECT_EQ(kept[3].error, "damaged");
}

}  // namespace opbench
