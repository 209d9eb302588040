#include <gmock/gmock.h>

#include "profiles/hot_spots.h"
#include "tensor/error.h"
#include "tests/profiles/profiles.h"
#include "tests/support/temp_dir.h"

namespace opbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

DeviceTask typed_task(std::string_view type, std::string_view core, std::string_view name) {
  DeviceTask task;
  task.type = type;
  task.core = core;
  task.name = name;
  return task;
}

// Stated parts replace the program's parts. Other parts stay.
TEST(HotSpotRules, AFileChangesWhatItStates) {
  const HotSpotRules rules = HotSpotRules::parse(
      "findings: {trans_data: {share: 0.5, advice: mine}}\n"
      "groups: [{name: TransData, types: [Trans]}]\nsmall: {up_to_us: 3}\n",
      "mine.yaml");
  EXPECT_EQ(rules.finding("trans_data").share, 0.5);
  EXPECT_EQ(rules.finding("trans_data").advice, "mine");
  EXPECT_EQ(rules.finding("trans_data").times, 2);
  EXPECT_EQ(rules.finding("cast").share, HotSpotRules::builtin().finding("cast").share);
  ASSERT_EQ(rules.groups.size(), 1U);
  EXPECT_THAT(rules.groups[0].types, ElementsAre("Trans"));
  EXPECT_EQ(rules.small_ps, 3 * kUs);
  EXPECT_EQ(rules.runs.size(), HotSpotRules::builtin().runs.size());
}

TEST(HotSpotRules, ErrorsNameTheLine) {
  const auto error = [](const std::string& text, const std::string& message) {
    EXPECT_THAT([&] { HotSpotRules::parse(text, "r.yaml"); },
                ThrowsMessage<Error>(HasSubstr("r.yaml:" + message)))
        << text;
  };
  error("findings:\n  trans_dota: {}", "2: there is no finding 'trans_dota'; did you mean");
  error("findings:\n  cast: {share: 2}", "2: ");
  error("findings:\n  cast: {shore: 0.2}", "2: unknown key 'shore'");
  error("small:\n  runs: [{name: a}]", "2: a run needs a 'name' and 'types'");
  error("small:\n  runs: [{types: [Add]}]", "2: a run needs a 'name' and 'types'");
  error("groups:\n  - {types: [Add]}", "2: a group needs a 'name'");
  error("wait: {share: 1.01}", "1: ");
  error("wait: {longer_than_us: -1}", "1: ");
  error("recompile: {after_steps: 1001}", "1: ");
  error("timeline: 3", "1: ");
}

// The numbers are those of profiles/hot_spot_rules.yaml, with times in picoseconds.
TEST(HotSpotRules, OfTheProgramAreThoseOfItsFile) {
  const HotSpotRules& rules = HotSpotRules::builtin();
  EXPECT_EQ(rules.small_ps, 20 * kUs);
  EXPECT_EQ(rules.long_wait_ps, 10 * kUs);
  EXPECT_EQ(rules.wait_share, 0.03);
  EXPECT_EQ(rules.warning, 0.1);
  EXPECT_EQ(rules.warm_steps, 3);
  EXPECT_EQ(rules.finding("trans_data").times, 2);
  EXPECT_EQ(rules.finding("aicpu").longer_than_ps, 20 * kUs);
  EXPECT_EQ(rules.finding("alignment").limit, 16);
  EXPECT_EQ(rules.finding("fusible").limit, 0.4);
  EXPECT_EQ(rules.runs.size(), 9U);
  EXPECT_EQ(rules.groups.size(), 5U);
}

// 0.25 us are 250000 ps. Half a picosecond is rounded up.
TEST(HotSpotRules, TimesAreMicroseconds) {
  const auto small = [](const std::string& us) {
    return HotSpotRules::parse("small: {up_to_us: " + us + "}", "r.yaml").small_ps;
  };
  EXPECT_EQ(small("0.25"), 250'000);
  EXPECT_EQ(small("0.0000005"), 1);
  EXPECT_EQ(small("0"), 0);
}

TEST(HotSpotRules, AFileReplacesWholeListsOfRunsAndNames) {
  const HotSpotRules rules = HotSpotRules::parse(
      "small: {runs: [{name: one, types: [A, B]}]}\ncommunication: {names: [mine_]}\n"
      "timeline: {copies: [DMA]}\nrecompile: {after_steps: 7}\n"
      "wait: {longer_than_us: 2, share: 0.5}\n",
      "r.yaml");
  ASSERT_EQ(rules.runs.size(), 1U);
  EXPECT_EQ(rules.runs[0].name, "one");
  EXPECT_THAT(rules.runs[0].types, ElementsAre("A", "B"));
  EXPECT_THAT(rules.communication_names, ElementsAre("mine_"));
  EXPECT_THAT(rules.communication_cores, ElementsAre("HCCL", "COMMUNICATION"));
  EXPECT_THAT(rules.copying_types, ElementsAre("DMA"));
  EXPECT_TRUE(rules.computes("AI_CORE"));
  EXPECT_EQ(rules.warm_steps, 7);
  EXPECT_EQ(rules.long_wait_ps, 2 * kUs);
  EXPECT_EQ(rules.wait_share, 0.5);
}

// Communication is known by the core, or by the begin of the name.
TEST(HotSpotRules, KnowCommunicationByCoreAndName) {
  const HotSpotRules& rules = HotSpotRules::builtin();
  EXPECT_TRUE(rules.is_communication(typed_task("", "HCCL", "x")));
  EXPECT_TRUE(rules.is_communication(typed_task("", "AI_CORE", "hcom_allReduce__1")));
  EXPECT_TRUE(rules.is_communication_name("ncclKernel_AllReduce"));
  EXPECT_TRUE(rules.is_communication_name("Default/AllReduce-op534_0"));
  EXPECT_FALSE(rules.is_communication_name("my_hcom_"));
  EXPECT_FALSE(rules.is_communication(typed_task("Add", "AI_CORE", "Add")));
}

TEST(HotSpotRules, KnowWhatComputesAndWhatCopies) {
  const HotSpotRules& rules = HotSpotRules::builtin();
  EXPECT_TRUE(rules.computes("KERNEL_MIX_AIV"));
  EXPECT_FALSE(rules.computes("MEMCPY_ASYNC"));
  EXPECT_TRUE(rules.copies("MEMCPY_ASYNC"));
  EXPECT_FALSE(rules.copies("AI_CORE"));
  EXPECT_FALSE(rules.copies("EVENT_WAIT") || rules.computes("EVENT_WAIT"));
}

TEST(HotSpotRules, KnowWhatTheHostDoes) {
  const HotSpotRules& rules = HotSpotRules::builtin();
  EXPECT_EQ(rules.host_state("AscendCL@aclopCompileAndExecute"), HostState::compiles);
  EXPECT_EQ(rules.host_state("cudaStreamSynchronize"), HostState::waits);
  EXPECT_EQ(rules.host_state("enumerate(DataLoader)#next"), HostState::loads);
  EXPECT_EQ(rules.host_state("aten::add"), std::nullopt);
}

// Parts of names count only without a type: "TransDataAdd" of type Add is an Add.
TEST(TaskGroup, HoldsTypesAndCoresAndNamesWithoutAType) {
  const TaskGroup group{"g", {"TransData"}, {"AI_CPU"}, {"TransData"}};
  EXPECT_TRUE(group.holds(typed_task("TransData", "AI_CORE", "x")));
  EXPECT_TRUE(group.holds(typed_task("Add", "AI_CPU", "x")));
  EXPECT_TRUE(group.holds(typed_task("", "AI_CORE", "te_TransData_1")));
  EXPECT_FALSE(group.holds(typed_task("Add", "AI_CORE", "te_TransData_1")));
  EXPECT_FALSE(group.holds(typed_task("TransDataV2", "AI_CORE", "x")));
}

class HotSpotRulesFile : public testing::Test, protected TempDir {};

TEST_F(HotSpotRulesFile, IsRead) {
  EXPECT_EQ(HotSpotRules::load(write("r.yaml", "small: {up_to_us: 5}\n")).small_ps, 5 * kUs);
  EXPECT_THAT([&] { HotSpotRules::load(path("none.yaml")); },
              ThrowsMessage<Error>(HasSubstr("none.yaml")));
}

}  // namespace
}  // namespace opbench
