// Tests inputs as traces of tests/data/profiles/traces write them.
#include "profiles/trace_profile.h"

#include <gtest/gtest.h>

namespace opbench {
namespace {

template <class Append>
std::string made(Append append, std::string_view from) {
  std::string to;
  append(from, to);
  return to;
}

TEST(TraceInputs, ReadShapesOfBothProfilers) {
  EXPECT_EQ(made(append_input_shapes, "[[32, 3, 224, 224], [], [2]]"), "32,3,224,224;;2");
  EXPECT_EQ(made(append_input_shapes, "[[], [[2, 3], [4]], []]"), ";[2,3][4];");
  EXPECT_EQ(made(append_input_shapes, "[]"), "");
  EXPECT_EQ(made(append_input_shapes, "32,3;\r\n64;\r\n;\r\n"), "32,3;64;;");
  EXPECT_EQ(made(append_input_shapes, "[]]]][["), "");
}

TEST(TraceInputs, SpellDTypesAsTablesDo) {
  EXPECT_EQ(made(append_input_dtypes, R"(["float", "c10::Half", "long int", "", "Scalar"])"),
            "FLOAT;FLOAT16;INT64;;Scalar");
  EXPECT_EQ(made(append_input_dtypes, "c10::BFloat16;\r\nTensorList"), "BF16;TensorList");
}

TEST(TraceInputs, KeepValuesAndTellSteadyOnesApart) {
  const std::string values = R"(["", "[1, 1]", "False", "0.001", "-3", "1e-05", "a\"b"])";
  EXPECT_EQ(made(append_input_values, values), ";[1, 1];False;0.001;-3;1e-05;a\\\"b");
  EXPECT_EQ(made(append_steady_values, values), ";[1, 1];False;#;-3;#;a\\\"b");
  EXPECT_EQ(made(append_input_values, R"(["cut)"), "");
}

}  // namespace
}  // namespace opbench
