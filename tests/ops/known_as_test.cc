// Tests the names of operators in other systems. op_table_test.cc looks up each name and checks
// which operator computes it.
#include "ops/known_as.h"

#include <gmock/gmock.h>

#include <map>
#include <set>

#include "ops/op_table.h"
#include "ops/torch_expression.h"

namespace opbench {
namespace {

using testing::IsEmpty;
using testing::UnorderedElementsAre;

std::set<std::string_view> operators_of_dumps() {
  std::set<std::string_view> all;
  for (const OpRow& row : OpTable::builtin().rows()) {
    for (const OpUse& use : row.uses) all.insert(use.op->name);
  }
  return all;
}

}  // namespace

// Comparing, judging, minimising and capturing find a record by its name in the dump.
TEST(KnownAs, EveryOperatorIsFoundInDumpsOrSaysWhyNot) {
  const std::set<std::string_view> found = operators_of_dumps();
  for (const Op* op : RegisteredOp::all()) {
    if (op->name.starts_with("test_")) continue;  // registered by other tests
    EXPECT_NE(found.contains(op->name), !op->known_as.not_recorded.empty()) << op->name;
  }
}

// `source` states CANN's name of the operator. The gaps are listed here.
TEST(KnownAs, OperatorsOfCannAreFoundInProfiles) {
  std::set<std::string> unknown;
  for (const Op* op : RegisteredOp::all()) {
    const std::size_t at = op->source.find("CANN ");
    if (at == std::string_view::npos) continue;
    std::string names(op->source.substr(at + 5));
    for (const std::string& name : items_of(names.substr(0, names.find_first_of(";.")))) {
      const bool is_type = !name.empty() && name[0] >= 'A' && name[0] <= 'Z';
      const bool is_known = !OpTable::profiled().find(name).empty() || find_profiled_call(name);
      if (is_type && !is_known) unknown.insert(name);
    }
  }
  EXPECT_THAT(unknown, UnorderedElementsAre(
                           "AbsGrad", "BNInferGrad", "BroadcastTo", "BroadcastToD", "DynamicGRUV2",
                           "DynamicRNN", "InplaceIndexAdd", "Iou", "L1LossGrad", "LpLoss",
                           "NonFiniteCheckOp", "OneHot", "PadD", "PadV3", "Power", "SGD",
                           "ShuffleChannel", "SigmoidCrossEntropyWithLogitsGradV2",
                           "SigmoidCrossEntropyWithLogitsV2", "SplitD", "SplitV", "Unpack"));
}

// The order of operators must not decide which is tried first.
TEST(KnownAs, OperatorsOfOneNameTakeTurns) {
  std::map<std::pair<std::string, int>, std::set<std::string_view>> claims[2];
  for (const Op* op : RegisteredOp::all()) {
    for (const KnownCall& call : op->known_as.calls) {
      for (const std::string& name : items_of(call.names)) {
        claims[call.rules.is_profiled_only][{name, call.rules.turn}].insert(op->name);
      }
    }
  }
  for (const auto& of_table : claims) {
    for (const auto& [claim, ops] : of_table) EXPECT_EQ(ops.size(), 1u) << claim.first;
  }
}

TEST(KnownAs, TorchIsGivenInputsAndAttributes) {
  EXPECT_EQ(torch_expression(find_op("softplus")),
            R"(F.softplus(x[0], a["beta"], a["threshold"]))");
  EXPECT_EQ(torch_expression(find_op("linear")),
            "F.linear(x[0], x[1], (x[2] if len(x) > 2 else None))");
  EXPECT_EQ(torch_expression(find_op("concat")), R"(torch.cat(x, a["axis"]))");
  EXPECT_EQ(torch_expression(find_op("cast")), "x[0].to(getattr(torch, DTYPE))");
  EXPECT_EQ(torch_expression(find_op("mean")), "x[0].mean().reshape(SHAPE)");
  EXPECT_EQ(torch_expression(find_op("adam")), "");
}

TEST(KnownAs, TorchIsGivenNothingElse) {
  for (const Op* op : RegisteredOp::all()) {
    std::string_view rest = op->known_as.torch;
    for (std::size_t open = rest.find('{'); open < rest.size(); open = rest.find('{')) {
      const std::size_t close = rest.find('}', open);
      ASSERT_NE(close, std::string_view::npos) << op->name;
      const std::string_view given = rest.substr(open + 1, close - open - 1);
      const bool is_input = given.size() == 1 && given[0] >= '0' &&
                            static_cast<std::size_t>(given[0] - '0') < op->inputs.size();
      const bool is_word = given == "inputs" || given == "shape" || given == "dtype";
      EXPECT_TRUE(is_input || is_word || has_attr(*op, given)) << op->name << ": " << given;
      rest.remove_prefix(close);
    }
  }
}

TEST(KnownAs, ListsMayHaveEmptyItems) {
  EXPECT_THAT(items_of("a|b, c?, , d "), testing::ElementsAre("a|b", "c?", "", "d"));
  EXPECT_THAT(items_of("a,"), testing::ElementsAre("a", ""));
  EXPECT_THAT(items_of(""), IsEmpty());
}

}  // namespace opbench
