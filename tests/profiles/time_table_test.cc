// Compares tables of other profilers with sums of their own columns.
#include "profiles/time_table.h"

#include <gmock/gmock.h>

#include <map>

#include "tests/profiles/profiles.h"

namespace opbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

TEST(TimeTable, ReadsTasksOfTaskTimeThatCompute) {
  // 42401.720 + 42061.080. PROFILING_ENABLE is not a task.
  const IngestResult result = ingest_samples({"task_time/task_time_sanitized.csv"});
  EXPECT_EQ(result.files[0].kind, "task_time");
  EXPECT_EQ(us_text(result.hot_spots.computing().total_ps), "84462.800");
  EXPECT_EQ(result.hot_spots.computing().count, 2);
  EXPECT_EQ(result.trace.others.at("PROFILING_ENABLE").count, 1);
}

TEST(TimeTable, ReadsTheSumsOfTheOldTaskTime) {
  const IngestResult result = ingest_text(
      "Time(%),Time(us),Count,Avg(us),Min(us),Max(us),Waiting(us),Running(us),Pending(us),Type,API,"
      "Task ID,Op Name,Stream ID\n60,30.5,3,10.17,9.5,11,0,0,0,AI_CORE,,4,conv1,2\n"
      "40,20,1,20,20,20,0,0,0,EVENT_WAIT,,5,N/A,2\n0,1,0,1,1,1,0,0,0,AI_CORE,,6,x,2\n");
  const std::vector<HotOperator> operators = result.hot_spots.operators();
  ASSERT_THAT(operators, SizeIs(1));
  EXPECT_EQ(operators[0].name, "conv1");
  EXPECT_EQ(operators[0].time.count, 3);
  EXPECT_EQ(operators[0].time.total_ps, 30'500'000);
  EXPECT_EQ(operators[0].time.least_ps, 9'500'000);
  EXPECT_EQ(operators[0].time.most_ps, 11'000'000);
  EXPECT_THAT(result.files[0].problems, ElementsAre("t.csv:4: '0' is not a time"));
}

TEST(TimeTable, ReadsNsysInNanoseconds) {
  // Its columns sum to 198511027 ns of 679 instances. The first row has 99385786 ns, which are 50.1
  // %.
  const IngestResult result = ingest_samples({"gpu/nsys_cuda_gpu_kern_sum.csv"});
  EXPECT_EQ(us_text(result.hot_spots.computing().total_ps), "198511.027");
  EXPECT_EQ(result.hot_spots.computing().count, 679);
  const HotOperator first = result.hot_spots.operators()[0];
  EXPECT_EQ(first.name, "flash_attention_prefill_f16");
  EXPECT_NEAR(result.hot_spots.share(first.time), 0.501, 0.0005);
  EXPECT_EQ(us_text(first.time.least_ps), "2987.340");
}

TEST(TimeTable, FindsNsysBehindItsBanner) {
  const IngestResult result = ingest_text(
      "Generating SQLite file r.sqlite from r.nsys-rep\nProcessing [r.sqlite] with [x.py]... \n\n"
      "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n"
      "100.0,3000,2,1500.0,1500.0,1000,2000,1.0,\"void k<float, 4>(int, \"\"x\"\")\"\n\n");
  EXPECT_EQ(result.hot_spots.computing().total_ps, 3'000'000);
  EXPECT_EQ(result.hot_spots.operators()[0].name, "void k<float, 4>(int, \"x\")");
}

TEST(TimeTable, ReadsTheUnitsOfNvprof) {
  const IngestResult result = ingest_text(
      "==123== NVPROF is profiling process 123, command: x\n==123== Profiling result:\n"
      "\"Type\",\"Time(%)\",\"Time\",\"Calls\",\"Avg\",\"Min\",\"Max\",\"Name\"\n"
      ",%,ms,,us,us,ms,\n\"GPU activities\",75,1.5,2,750,500,1,\"gemm<int, 4>\"\n"
      "\"GPU activities\",25,0.5,1,500,500,0.5,\"[CUDA memcpy HtoD]\"\n"
      "\"API calls\",100,9,3,3000,1,8,\"cudaLaunchKernel\"\n");
  const std::vector<HotOperator> operators = result.hot_spots.operators();
  ASSERT_THAT(operators, SizeIs(1));
  EXPECT_EQ(operators[0].time.total_ps, 1'500'000'000);
  EXPECT_EQ(operators[0].time.least_ps, 500'000'000);
  EXPECT_EQ(operators[0].time.most_ps, 1'000'000'000);
  EXPECT_EQ(result.trace.others.at("[CUDA memcpy HtoD]").total_ps, 500'000'000);
}

TEST(TimeTable, RefusesNvprofWithoutUnits) {
  const IngestResult result =
      ingest_text("Type,Time(%),Time,Calls,Avg,Min,Max,Name\nGPU activities,75,1.5,2,1,1,1,k\n");
  EXPECT_EQ(result.files[0].rows, 0);
  EXPECT_THAT(result.files[0].problems, ElementsAre("t.csv:2: no line of units after the header"));
}

// aicore_intermediate_1_type.csv sums the tasks of aicore_intermediate_1_detail.csv by the types of
// framework_raw_1.csv.
TEST(TimeTable, JoinsTheTablesOfMindSpore) {
  const IngestResult result =
      ingest_samples({"mindspore/aicore_intermediate_1_detail.csv",
                      "mindspore/aicore_intermediate_1_type.csv", "mindspore/framework_raw_1.csv"});
  ASSERT_TRUE(result.check);
  EXPECT_EQ(result.check->groups, 21);
  EXPECT_EQ(result.check->exact, 21);
  EXPECT_EQ(result.hot_spots.types()[0].type, "MatMul");
  EXPECT_EQ(us_text(result.hot_spots.types()[0].time.total_ps), "20657.740");
  for (const HotOperator& one : result.hot_spots.operators()) {
    if (one.name != "Default/TransData-op118") continue;
    EXPECT_EQ(one.input_shapes, "2,3,227,227");
    EXPECT_EQ(one.output_shapes, "2,1,227,227,16");
    EXPECT_EQ(one.output_formats, "NC1HWC0");
    EXPECT_EQ(one.input_dtypes, "UNDEFINED");
    return;
  }
  ADD_FAILURE() << "no TransData";
}

TEST(TimeTable, TakesMindSporesTypesFromNamesWithoutItsList) {
  const IngestResult result = ingest_samples(
      {"mindspore/aicore_intermediate_1_detail.csv", "mindspore/aicore_intermediate_1_type.csv"});
  ASSERT_TRUE(result.check);
  EXPECT_THAT(result.check->differences, SizeIs(0));
  EXPECT_EQ(
      us_text(
          ingest_samples({"mindspore/aicpu_intermediate_1.csv"}).hot_spots.computing().total_ps),
      "1100.000");  // five times 0.22 ms
}

TEST(TimeTable, BearsDamagedJsonInsideTheList) {
  const IngestResult result = ingest_text(
      "task_id,stream_id,block_dim,full_op_name,op_name,op_type,subgraph,op_info\n"
      "1,2,x,a/Cast-op1,Cast-op1,Cast,Default,\"{\"\"input_0\"\": {\"\"shape\"\": 5}}\"\n"
      "1,2,8,a/Cast-op2,Cast-op2,Cast,Default,\"{\"\"input_0\"\": [\"\n");
  EXPECT_EQ(result.files[0].rows, 2);
  EXPECT_THAT(result.files[0].problems, ElementsAre("t.csv:3: op_info is not JSON"));
  EXPECT_FALSE(result.framework.find("a/Cast-op2")->has_tensors);
}

TEST(TimeTable, ReadsHostOperatorsWithNewlinesInTheirCells) {
  // Twelve records. Their host self durations add up to 3217.62 us.
  const IngestResult result = ingest_samples({"host_operators/operator_details_multiline.csv"});
  EXPECT_EQ(result.files[0].rows, 12);
  EXPECT_EQ(result.files[0].skipped, 0);
  std::int64_t self_ns = 0;
  std::map<std::string, std::string> shapes;
  for (const TraceOperator& one : result.trace.operators()) {
    self_ns += one.host_self_ns;
    shapes[one.name] = one.input_shapes;
  }
  EXPECT_EQ(self_ns, 3'217'620);
  EXPECT_EQ(shapes.at("aten::to"), "0;;;;;");
}

TEST(TimeTable, TakesStepsFromTheTableForWantOfATrace) {
  const IngestResult result = ingest_samples(
      {"host_operators/step_trace_time_alexnet.csv", "kernel_details/alexnet_level1_rank0.csv"});
  ASSERT_THAT(result.trace.steps, SizeIs(1));
  EXPECT_EQ(us_text(result.trace.steps[0].busy.computing_ps), "8873.756");
  EXPECT_EQ(us_text(result.trace.steps[0].duration_ps), "136581.009");
  const IngestResult both = ingest_samples({"host_operators/step_trace_time_alexnet.csv",
                                            "traces/ascend_pytorch_trace_view_alexnet.json.gz"});
  ASSERT_THAT(both.trace.steps, SizeIs(1));
  EXPECT_EQ(both.trace.steps[0].name, "ProfilerStep#50");
}

TEST(TimeTable, WarnsWhereTasksCountTwice) {
  const IngestResult result =
      ingest_samples({"task_time/task_time_sanitized.csv", "kernel_details/minimal_7col.csv"});
  EXPECT_THAT(result.warnings,
              ElementsAre(HasSubstr("kernel_details and task_time are both given")));
}

}  // namespace
}  // namespace opbench
