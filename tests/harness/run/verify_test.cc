// `Verifier` on correct kernels, with errors that the test writes to memory.
#include "harness/run/verify.h"

#include <gmock/gmock.h>

#include <cstring>

#include "tests/harness/run/run_context.h"

namespace opbench {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

/// A context of two nodes, loaded and run.
class VerifyTest : public testing::Test {
 protected:
  VerifyTest()
      : planned_(planned_text("contexts:\n"
                              "  - name: two\n"
                              "    inputs: {x: [4, 8], y: [4, 8]}\n"
                              "    nodes:\n"
                              "      - {name: first, op: add, in: [x, y], out: z}\n"
                              "      - {name: second, op: relu, in: [z], out: a}\n"
                              "    outputs: [z, a]\n"
                              "    steps: [{name: native}]\n")),
        step_(planned_.steps[0]),
        memory_(step_.memory.bytes),
        variant_(unit_variant(step_)),
        bound_(step_.graph, step_.selection.kernels, memory_.storage_of(variant_), 1,
               variant_.saturates()) {
    memory_.load(variant_, 1);
    for (const char* output : {"z", "a"}) memory_.poison(variant_, tensor(output));
  }

  std::size_t tensor(const std::string& name) const {
    for (std::size_t i = 0; i < step_.graph.tensors.size(); ++i) {
      if (step_.graph.tensors[i].name == name) return i;
    }
    throw std::out_of_range(name);
  }
  float* values(const std::string& name) const {
    return static_cast<float*>(memory_.at(variant_, tensor(name)));
  }
  Verification judged(const VerifyRules& rules = {.counts_under_test = false}) const {
    return Verifier(rules).judge(variant_, memory_);
  }

  PlannedContext planned_;
  const PlannedStep& step_;
  Workspace memory_;
  UnitVariant variant_;
  BoundGraph bound_;
};

}  // namespace

// Each of two outputs has 32 elements.
TEST_F(VerifyTest, FindsRightKernelsRight) {
  Verifier verifier({.stops_at_failure = true, .counts_under_test = false});
  const Verification found = verifier.verify(variant_, memory_, bound_, 1);
  EXPECT_NE(found.judgement.verdict, Verdict::failed) << found.judgement.reason;
  EXPECT_EQ(found.elements, 64);
  EXPECT_EQ(found.stats.count, 64);
  EXPECT_EQ(found.stats.unequal, 0);
}

// One element of the last output differs by 1.
TEST_F(VerifyTest, NamesTheNodeAndTheElementThatIsWrong) {
  bound_.run();
  ASSERT_NE(judged().judgement.verdict, Verdict::failed) << judged().judgement.reason;
  values("a")[9] += 1;
  const Verification found = judged();
  EXPECT_EQ(found.judgement.verdict, Verdict::failed);
  EXPECT_THAT(found.judgement.reason, StartsWith("second ("));
  EXPECT_THAT(found.judgement.reason, HasSubstr("[1,1]")) << "element 9 of rows of 8";
  EXPECT_EQ(found.stats.unequal, 1);
}

// The node behind a wrong node is correct for its inputs.
TEST_F(VerifyTest, HoldsEachNodeToTheInputsThatItGot) {
  bound_.run_node(0);
  values("z")[3] += 100;
  bound_.run_node(1);
  const Verification found = judged();
  EXPECT_EQ(found.judgement.verdict, Verdict::failed);
  EXPECT_THAT(found.judgement.reason, StartsWith("first ("));
  EXPECT_EQ(found.stats.unequal, 1);
}

// A byte after the last element of an output is changed.
TEST_F(VerifyTest, SeesWhatIsWrittenOutsideOfATensor) {
  bound_.run();
  reinterpret_cast<unsigned char*>(values("a") + 32)[0] ^= 0xFF;
  const Verification found = judged();
  EXPECT_EQ(found.judgement.verdict, Verdict::failed);
  EXPECT_THAT(found.judgement.reason, HasSubstr("wrote outside the tensor 'a'"));
}

// A context repeats its layers: one of each kind is judged, and none is repeated.
TEST_F(VerifyTest, RulesOfAContextAreThoseOfRepeatedLayers) {
  const VerifyRules context = rules_for(WorkUnit(planned_), 1000);
  EXPECT_EQ(context.enough, 1);
  EXPECT_EQ(context.most_elements, 1000);
  EXPECT_TRUE(context.stops_at_failure);
  EXPECT_FALSE(context.repeats);
  EXPECT_FALSE(context.can_mistrust);
  EXPECT_FALSE(context.counts_under_test);
}

}  // namespace opbench
