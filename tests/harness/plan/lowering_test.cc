// All forms of a channel shuffle compute the same function, forward and backward.
#include "harness/plan/lowering.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/harness/context_support.h"
#include "tests/harness/run/run_step.h"

namespace opbench {
namespace {

using testing::Contains;
using testing::ElementsAre;

struct Form {
  std::string forward, backward;
};

void PrintTo(const Form& form, std::ostream* out) { *out << form.forward << ", " << form.backward; }

class Lowered : public testing::TestWithParam<Form> {};

ContextBuilder shuffled(const std::string& op) {
  ContextBuilder builder("shuffled");
  builder.input("x1", {2, 29, 3, 5}).input("x2", {2, 29, 3, 5});
  if (op == "cat_shuffle_split") {
    builder.node(op, {"x1", "x2"}, {"y1", "y2"}).node("mul", {"y1", "y2"}, {"z"}).output("z");
  } else {
    builder.node(op, {"x1", "x2"}, {"y"}).node("softplus", {"y"}, {"z"}).output("z");
  }
  builder.context().backward = true;
  return builder;
}

TEST_P(Lowered, IsTheSameFunction) {
  for (const std::string op : {"cat_shuffle", "cat_shuffle_split"}) {
    const ContextBuilder builder = shuffled(op);
    ContextStep step = builder.step();
    step.variants[op] = {"fused"};
    step.variants[op + "_grad"] = {"fused"};
    const std::vector<StepResult> expected = results_of(builder.plan(step));
    step.variants[op] = {GetParam().forward};
    step.variants[op + "_grad"] = {GetParam().backward};
    for (const bool is_generated : {false, true}) {
      using Index = FrameworkRules::Index;
      step.rules.index = is_generated ? Index::generated : Index::cached;
      const std::vector<StepResult> found = results_of(builder.plan(step));
      ASSERT_EQ(found.size(), expected.size());
      for (std::size_t i = 0; i < found.size(); ++i) {
        EXPECT_EQ(found[i].name, expected[i].name);
        EXPECT_EQ(found[i].values, expected[i].values) << op << " " << found[i].name;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Forms, Lowered,
                         testing::Values(Form{"native", "native"}, Form{"full", "index_add"},
                                         Form{"full", "index_add_host"}, Form{"full", "full"},
                                         Form{"half", "half"}, Form{"half", "index_add"}));

// index.to(npu) in every use, or an int32 buffer that is made once.
TEST(Lowering, GeneratedIndexIsCastByEveryCall) {
  const ContextBuilder builder = shuffled("cat_shuffle_split");
  ContextStep step = builder.step();
  step.variants["cat_shuffle_split"] = {"half"};
  const auto casts = [&] {
    const std::vector<std::string> chain = chain_of(builder.plan(step));
    return std::count(chain.begin(), chain.end(), "cast");
  };
  EXPECT_EQ(casts(), 0);
  step.rules.index = FrameworkRules::Index::generated;
  EXPECT_EQ(casts(), 4);
}

TEST(Lowering, ChunkIsACopyOfEachPart) {
  ContextBuilder builder("chunk");
  builder.input("x", {2, 6, 3, 5})
      .node("split", {"x"}, {"a", "b", "c"}, {{"chunks", "3"}})
      .output("a")
      .output("b")
      .output("c");
  EXPECT_THAT(chain_of(builder.plan(builder.step())),
              ElementsAre("contiguous", "contiguous", "contiguous"));
  ContextStep step = builder.step();
  step.variants["split"] = {"split_d"};
  EXPECT_THAT(chain_of(builder.plan(step)), ElementsAre("split"));
}

}  // namespace
}  // namespace opbench
