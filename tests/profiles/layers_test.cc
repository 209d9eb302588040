// The time of operators between the framework and the device.
#include "profiles/layers.h"

#include <gmock/gmock.h>

#include "tests/profiles/profiles.h"

namespace opbench {
namespace {

using testing::ElementsAre;

std::string event(const std::string& rest) { return "{\"ph\": \"X\", " + rest + "},\n"; }

/// aten::mm runs from 0 to 20 us on thread 7. Thread 8 runs its task from 30 to 70 us: AscendCL for
/// 30 us, of which the launch takes 10 and the runtime 5 more. The kernel starts at 100 us, 50 us
/// after the launch.
std::string trace() {
  return "[" +
         event(R"("cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 7, "ts": 0, "dur": 20)") +
         event(
             R"("name": "AscendCL@aclnnMmGetWorkspaceSize", "pid": 2, "tid": 7, "ts": 5, "dur": 4)") +
         event(R"("cat": "enqueue", "name": "Enqueue", "pid": 1, "tid": 7, "ts": 12, "dur": 3,
                  "args": {"correlation_id": 5})") +
         event(R"("cat": "dequeue", "name": "Dequeue@x", "pid": 1, "tid": 8, "ts": 30, "dur": 40,
                  "args": {"correlation_id": 5})") +
         event(R"("name": "AscendCL@aclnnMm", "pid": 2, "tid": 8, "ts": 35, "dur": 30)") +
         event(R"("name": "Node@launch", "pid": 2, "tid": 8, "ts": 45, "dur": 15)") +
         event(R"("name": "Runtime@rtKernelLaunch", "pid": 2, "tid": 8, "ts": 50, "dur": 5)") +
         event(R"("name": "Node@launch", "pid": 2, "tid": 9, "ts": 500, "dur": 2)") +
         event(R"("name": "mm", "pid": 3, "tid": 1, "ts": 100, "dur": 8,
                  "args": {"Task Type": "AI_CORE"})") +
         R"({"ph": "s", "cat": "HostToDevice", "id": 1, "pid": 2, "tid": 8, "ts": 50},
            {"ph": "f", "cat": "HostToDevice", "id": 1, "pid": 3, "tid": 1, "ts": 100},
            {"ph": "s", "cat": "async_npu", "id": 2, "pid": 1, "tid": 7, "ts": 1},
            {"ph": "f", "cat": "async_npu", "id": 2, "pid": 3, "tid": 1, "ts": 100}])";
}

TEST(Layers, AreThoseOfTheOperatorThatGaveTheTask) {
  const TraceProfile profile = ingest_text(trace()).trace;
  ASSERT_TRUE(profile.has_layers);
  // 20 - 4 on thread 7, 40 - 30 on thread 8; 4 + 30 - 15; 15 - 5.
  EXPECT_THAT(profile.operators()[0].layers_ns,
              ElementsAre(26'000, 19'000, 10'000, 5'000, 50'000, 8'000));
  EXPECT_THAT(profile.layers_ns, ElementsAre(26'000, 19'000, 12'000, 5'000, 50'000, 8'000));
}

// Older timelines have a process for each layer. Tasks of the device stay tasks.
TEST(Layers, AreNamedByEventsOrByProcesses) {
  TraceEvent event;
  event.name = "aclopExecute";
  EXPECT_EQ(layer_of(event, "AscendCL"), Layer::ascendcl);
  EXPECT_EQ(layer_of(event, "Python"), std::nullopt);
  event.name = "Hccl@launch";
  EXPECT_EQ(layer_of(event, "CANN"), std::nullopt);
  event.name = "GE@Infer";
  EXPECT_EQ(layer_of(event, "CANN"), Layer::ge);
  event.task_type = "AI_CORE";
  EXPECT_EQ(layer_of(event, "Task Scheduler"), std::nullopt);
}

// All calls of CANN in a real trace. Expected: sums of Python over the same events.
TEST(Layers, OfARealTrace) {
  const TraceProfile profile =
      ingest_samples({"traces/ascend_pytorch_trace_view_alexnet.json.gz"}).trace;
  const auto us = [&](Layer layer) {
    return static_cast<double>(profile.layers_ns[static_cast<std::size_t>(layer)]) / 1e3;
  };
  EXPECT_NEAR(us(Layer::ascendcl), 114826.72, 1);
  EXPECT_NEAR(us(Layer::ge), 4014.44, 1);
  EXPECT_EQ(us(Layer::runtime), 0);
}

}  // namespace
}  // namespace opbench
