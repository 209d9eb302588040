#include "text/json_cell.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace opbench {
namespace {

TEST(JsonCell, ValuesKeepTheirKind) {
  EXPECT_EQ(cell_value(Cell()).dump(), "null");
  EXPECT_EQ(cell_value(Cell(std::string("a\"b"))).dump(), "\"a\\\"b\"");
  EXPECT_EQ(cell_value(Cell(2.0)).dump(), "2.0");
  EXPECT_EQ(cell_value(Cell(std::int64_t{1} << 62)).dump(), "4611686018427387904");
  EXPECT_EQ(cell_value(Cell(true)).dump(), "true");
  EXPECT_EQ(cell_value(Cell(-HUGE_VAL)).dump(), "null");
}

}  // namespace
}  // namespace opbench
