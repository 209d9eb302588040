#include "ops/positional_call.h"

#include <gmock/gmock.h>

#include "harness/plan/case.h"
#include "harness/plan/recorded_call.h"
#include "ops/op_table.h"

namespace opbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

void add(DumpRecord& record, Side side, const std::string& name, EntryKind kind, DType dtype,
         Dims shape) {
  DumpEntry& entry = record.entries.emplace_back();
  entry.name = entry.path = name;
  entry.side = side;
  entry.kind = kind;
  entry.desc = describe(dtype, std::move(shape));
}

DumpRecord layer_norm(const std::string& op) {
  DumpRecord record;
  record.op = op;
  add(record, Side::input, "0", EntryKind::tensor, DType::fp32, {4, 20});
  add(record, Side::input, "1", EntryKind::other, DType::int64, {1});
  add(record, Side::input, "2", EntryKind::tensor, DType::fp32, {20});
  add(record, Side::input, "3", EntryKind::tensor, DType::fp32, {20});
  add(record, Side::input, "4", EntryKind::scalar, DType::fp64, {});
  add(record, Side::output, "0", EntryKind::tensor, DType::fp32, {4, 20});
  return record;
}

RecordedCalls calls_in(const DumpRecord& record) {
  return calls_of(record, OpTable::builtin(),
                  [](const DumpEntry&) { return std::vector<double>{0.5}; });
}

}  // namespace

TEST(PositionalCall, NamesOfForwardRecords) {
  EXPECT_EQ(find_positional_call("Functional.linear.0.forward")->name, "linear");
  EXPECT_EQ(find_positional_call("step0/rank0/Tensor.__truediv__.12.forward")->name, "div_Tensor");
  for (const char* other : {"linear", "Functional.linear.0.backward", "Functional.linear.forward",
                            "Functional.gelu.0.forward", "Module.linear.Linear.forward.0", ""}) {
    EXPECT_EQ(find_positional_call(other), nullptr) << other;
  }
  EXPECT_THAT(spellings("Torch.matmul.3.forward"), ElementsAre("Torch.matmul.3.forward", "matmul"));
}

TEST(PositionalCall, ArgumentsByPlaceOrKeyword) {
  const PositionalCall& call = *find_positional_call("Functional.embedding.0.forward");
  EXPECT_EQ(place_of_argument(call, "weight"), "1");
  EXPECT_EQ(place_of_argument(call, ""), "");
  EXPECT_TRUE(takes_argument(call, "padding_idx"));
  EXPECT_FALSE(takes_argument(call, "3"));  // a greatest norm changes the weight
  EXPECT_FALSE(takes_argument(call, "9"));
  EXPECT_FALSE(takes_argument(call, "2/0"));  // a tensor in a list
  EXPECT_EQ(place_of_result("result"), "0");
  EXPECT_EQ(place_of_result("result1"), "1");
  EXPECT_EQ(place_of_result("out"), "");
}

TEST(PositionalCall, RecordsAreCallsOfOperators) {
  const DumpRecord record = layer_norm("Functional.layer_norm.0.forward");
  const RecordedCalls found = calls_in(record);
  ASSERT_EQ(found.calls.size(), 1) << found.obstacle;
  EXPECT_THAT(case_id(case_of(found.calls[0].problem)),
              HasSubstr("layer_norm[4x20,20,20,fp32,ND,normalized_shape=[20],eps=0.5"));
  EXPECT_EQ(found.calls[0].outputs[0], &record.entries.back());
}

DumpRecord linear(const Dims& x, const Dims& y) {
  DumpRecord record;
  record.op = "Functional.linear.0.forward";
  add(record, Side::input, "0", EntryKind::tensor, DType::fp32, x);
  add(record, Side::input, "1", EntryKind::tensor, DType::fp32, {48, 16});
  add(record, Side::output, "0", EntryKind::tensor, DType::fp32, y);
  return record;
}

// Batch and sequence are rows of one product.
TEST(PositionalCall, LeadingAxesAreRows) {
  RecordedCalls found = calls_in(linear({2, 3, 6, 16}, {2, 3, 6, 48}));
  ASSERT_EQ(found.calls.size(), 1) << found.obstacle;
  EXPECT_EQ(case_id(case_of(found.calls[0].problem)), "linear[36x16,48x16,fp32,ND]");
  found = calls_in(linear({16}, {48}));
  ASSERT_EQ(found.calls.size(), 1) << found.obstacle;
  EXPECT_EQ(case_id(case_of(found.calls[0].problem)), "linear[1x16,48x16,fp32,ND]");
  for (const Dims& wrong : {Dims{6, 3, 2, 48}, {36, 48}, {2, 3, 6, 16}}) {
    found = calls_in(linear({2, 3, 6, 16}, wrong));
    EXPECT_TRUE(found.calls.empty());
    EXPECT_THAT(found.obstacle, HasSubstr("that of linear is 2x3x6x48"));
  }
}

// A stride of (1, 2) is one entry of two numbers.
TEST(PositionalCall, ListsOfNumbersAreAttributes) {
  DumpRecord record;
  record.op = "Functional.conv2d.0.forward";
  add(record, Side::input, "0", EntryKind::tensor, DType::fp32, {1, 2, 8, 8});
  add(record, Side::input, "1", EntryKind::tensor, DType::fp32, {3, 2, 3, 3});
  add(record, Side::input, "3", EntryKind::other, DType::int64, {2});
  add(record, Side::output, "0", EntryKind::tensor, DType::fp32, {1, 3, 6, 3});
  const RecordedCalls found = calls_of(record, OpTable::builtin(), [](const DumpEntry&) {
    return std::vector<double>{1, 2};
  });
  ASSERT_EQ(found.calls.size(), 1) << found.obstacle;
  EXPECT_THAT(case_id(case_of(found.calls[0].problem)), HasSubstr("stride=[1,2]"));
}

TEST(PositionalCall, UnknownArgumentsAreNotIgnored) {
  DumpRecord record = layer_norm("Functional.layer_norm.0.forward");
  add(record, Side::input, "out", EntryKind::tensor, DType::fp32, {4, 20});
  const RecordedCalls found = calls_in(record);
  EXPECT_TRUE(found.calls.empty());
  EXPECT_EQ(found.obstacle, "the meaning of argument out is not known");
}

}  // namespace opbench
