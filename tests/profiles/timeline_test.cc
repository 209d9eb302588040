// Compares traces of real devices with the results of Python's json module and of trace_links.py,
// which is slow and simple: tests/data/profiles/traces/expected_traces.json and
// expected_links.json.
#include "profiles/timeline.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/profiles/profiles.h"

namespace opbench {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

json expected(const std::string& file) {
  std::ifstream stream(test_data("profiles/traces") / file);
  return json::parse(stream);
}

json kernels_by_operator(const TraceProfile& trace) {
  json counts = json::object();
  for (const TraceOperator& one : trace.operators()) {
    if (one.kernels.count > 0) {
      counts[one.name] = counts.value(one.name, 0) + one.kernels.count;
    }
  }
  return counts;
}

class Traces : public testing::TestWithParam<std::string> {
 protected:
  static json wanted() {
    const json all = expected("expected_traces.json");
    return all.at(all.contains(GetParam()) ? GetParam() : GetParam() + ".gz");
  }
  const IngestResult result_ = ingest_samples({"traces/" + GetParam() + ".gz"});
  const json wanted_ = wanted();
};

TEST_P(Traces, HaveTheEventsThatPythonReads) {
  const TraceProfile& trace = result_.trace;
  ASSERT_THAT(result_.files, SizeIs(1));
  EXPECT_THAT(result_.files[0].problems, SizeIs(0));
  EXPECT_EQ(result_.files[0].kind, "trace");
  EXPECT_EQ(trace.events, wanted_.at("events"));
  EXPECT_EQ(json(trace.phases), wanted_.at("ph"));
  json categories(trace.categories);
  categories["None"] = categories.value("", 0);
  for (const auto& [name, count] : wanted_.at("cat").items()) {
    if (!categories.contains(name)) continue;  // only arrows have it
    EXPECT_EQ(categories[name], count) << name;
  }
  EXPECT_EQ(trace.host_operators_with_shapes, wanted_.at("ops_with_dims"));
  std::map<std::string, std::int64_t> calls;
  for (const TraceOperator& one : trace.operators()) calls[one.name] += one.calls;
  for (const json& top : wanted_.at("top_op_names")) EXPECT_EQ(calls[top[0]], top[1]) << top;
}

TEST_P(Traces, HaveTheDeviceTimeThatPythonAddsUp) {
  const HotSpots& spots = result_.hot_spots;
  if (wanted_.contains("kernel_total_us")) {
    EXPECT_EQ(spots.computing().count + spots.communication().count, wanted_.at("kernels"));
    EXPECT_NEAR(in_us(spots.computing().total_ps + spots.communication().total_ps),
                wanted_.at("kernel_total_us"), kHalfNs);
    for (const json& top : wanted_.at("top_kernels")) {
      const std::string begin = top.at("name");
      std::int64_t count = begin.starts_with("nccl") ? spots.communication().count : 0;
      for (const HotOperator& one : spots.operators()) {
        if (one.name.starts_with(begin)) count += one.time.count;
      }
      EXPECT_GE(count, top.at("count")) << begin;  // the trace cuts names
    }
  }
  for (const json& row : wanted_.value("ascend_hardware", json::array())) {
    SCOPED_TRACE(row.dump());
    const std::string type = row.at("task_type");
    DeviceTime time;
    for (const HotType& one : spots.types()) {
      if (one.core != type) continue;
      time.count += one.time.count;
      time.total_ps += one.time.total_ps;
    }
    const auto other = result_.trace.others.find(type);
    if (other != result_.trace.others.end()) time = other->second;
    if (type == "?") continue;  // a mark of a step
    EXPECT_EQ(time.count, row.at("count"));
    EXPECT_NEAR(in_us(time.total_ps), row.at("total_us"), kHalfNs);
  }
}

TEST_P(Traces, TieKernelsToOperatorsAndStepsAsTheSlowWayDoes) {
  const json links = expected("expected_links.json").at(GetParam() + ".gz");
  const TraceProfile& trace = result_.trace;
  EXPECT_EQ(trace.kernels, links.at("kernels"));
  EXPECT_EQ(trace.linked_kernels, links.at("linked"));
  EXPECT_EQ(kernels_by_operator(trace), links.at("by_operator"));
  EXPECT_NEAR(in_us(trace.busy.computing_ps), links.at("computing_us"), kHalfNs);
  EXPECT_NEAR(in_us(trace.busy.communication_ps), links.at("communication_alone_us"), kHalfNs);
  ASSERT_THAT(trace.steps, SizeIs(links.at("steps").size()));
  for (std::size_t i = 0; i < trace.steps.size(); ++i) {
    const TraceStep& step = trace.steps[i];
    const json& one = links.at("steps")[i];
    EXPECT_EQ(step.name, one.at("name"));
    EXPECT_NEAR(in_us(step.duration_ps), one.at("us"), kHalfNs);
    EXPECT_NEAR(in_us(step.busy.computing_ps), one.at("computing_us"), kHalfNs);
    EXPECT_NEAR(in_us(step.busy.communication_ps), one.at("communication_alone_us"), kHalfNs);
  }
}

// The attributed times add up to the busy time.
TEST_P(Traces, AttributeTheTimeOfStepsOnce) {
  std::int64_t steps = 0, tasks = 0;
  for (const TraceStep& step : result_.trace.steps) steps += step.busy.computing_ps;
  for (const HotOperator& one : result_.hot_spots.operators()) tasks += one.step_ps;
  EXPECT_EQ(tasks, steps);
}

INSTANTIATE_TEST_SUITE_P(Timeline, Traces,
                         testing::Values("ascend_pytorch_trace_view_alexnet.json",
                                         "msprof_mindspore_alexnet_rank0_iter1.json",
                                         "torch_kineto_2021_resnet50_one_step.json",
                                         "torch_kineto_alexnet_a100_noshapes.json",
                                         "torch_kineto_dlrm_sampled_rank0.json",
                                         "torch_kineto_rocm_minitoy_mi250.json",
                                         "torch_kineto_simple_add_trace.json",
                                         "torch_kineto_triton.json"));

// Source: torch_npu's own step_trace_time.csv of this run: 8873.756 us computing, 101963.203 us
// communication without overlap, 105991.878 us communication in all.
TEST(Timeline, AgreesWithTheProfilersOwnStepTimes) {
  const IngestResult result = ingest_samples({"traces/ascend_pytorch_trace_view_alexnet.json.gz"});
  ASSERT_THAT(result.trace.steps, SizeIs(1));
  EXPECT_NEAR(in_us(result.trace.steps[0].busy.computing_ps), 8873.756, 0.002);
  EXPECT_NEAR(in_us(result.trace.steps[0].busy.communication_ps), 101963.203, 0.02);
  EXPECT_EQ(us_text(result.hot_spots.communication().total_ps), "105991.878");
}

// The timeline states AI_CORE for 172 kernels. By the table, 149 of them ran on vector cores.
TEST(Timeline, TakesCoresFromTheTableOfTheSameRun) {
  const IngestResult result = ingest_samples({"traces/ascend_pytorch_trace_view_alexnet.json.gz",
                                              "kernel_details/alexnet_level1_rank0.csv"});
  EXPECT_EQ(result.hot_spots.tasks_by_core().at("AI_VECTOR_CORE"), 149);
  EXPECT_EQ(result.hot_spots.computing().count, 187);
  EXPECT_EQ(result.trace.kernels_without_row, 0);
  std::int64_t attributed = 0;
  for (const HotOperator& one : result.hot_spots.operators()) attributed += one.step_ps;
  EXPECT_EQ(attributed, result.trace.steps[0].busy.computing_ps);
  EXPECT_THAT(result.warnings, SizeIs(0));
  for (const HotOperator& one : result.hot_spots.operators()) {
    if (one.name != "Conv2D1") continue;
    ASSERT_TRUE(one.host);
    const TraceOperator& host = result.trace.operators()[*one.host];
    EXPECT_EQ(host.name, "aten::_convolution");
    EXPECT_TRUE(host.input_shapes.starts_with("32,3,224,224;64,3,11,11;64;")) << host.input_shapes;
  }
}

TEST(Timeline, SaysWhereTraceAndTableAreNotOfOneRun) {
  const IngestResult result = ingest_samples(
      {"traces/ascend_pytorch_trace_view_alexnet.json.gz", "kernel_details/minimal_7col.csv"});
  EXPECT_THAT(result.warnings, ElementsAre(HasSubstr("187 of 191 kernels of the trace are in no "
                                                     "table")));
}

TEST(Timeline, RefusesExecutionTraces) {
  const IngestResult result =
      ingest_samples({"traces/torch_execution_trace_simple_add_et.json.gz"});
  EXPECT_EQ(result.files[0].kind, "");
  EXPECT_THAT(result.files[0].problems, ElementsAre(HasSubstr("an execution trace of PyTorch")));
}

std::string event(const std::string& category, const std::string& name, const std::string& thread,
                  const std::string& start, const std::string& duration,
                  const std::string& arguments) {
  return R"({"ph":"X","cat":")" + category + R"(","name":")" + name + R"(","pid":1,"tid":)" +
         thread + R"(,"ts":)" + start + R"(,"dur":)" + duration + R"(,"args":{)" + arguments +
         "}},\n";
}

// aten::conv2d > aten::convolution > aten::cudnn_convolution. The innermost launches a kernel.
TEST(Timeline, CountsNestedOperatorsOnce) {
  const std::string dims = R"("Input Dims":[[1,3],[2]],"Input type":["float","long int"])";
  const IngestResult result = ingest_text(
      "{\"traceEvents\": [\n" + event("cpu_op", "conv2d", "7", "10", "50", dims) +
      event("cpu_op", "convolution", "7", "11", "40", dims) +
      event("cpu_op", "cudnn", "7", "12", "30", dims) +
      event("cuda_runtime", "cudaLaunchKernel", "7", "20", "2", "\"correlation\":5") +
      event("cuda_runtime", "cudaLaunchKernel", "7", "60", "2", "\"correlation\":6") +
      event("kernel", "k", "\"stream 7\"", "100", "8.5", "\"correlation\":5,\"External id\":5") +
      event("kernel", "k", "\"stream 7\"", "120", "1", "\"correlation\":6,\"External id\":6") +
      "]}");
  EXPECT_EQ(kernels_by_operator(result.trace), json({{"conv2d", 1}, {"cudnn", 1}}));
  const TraceOperator* first = result.trace.by_time()[0];
  EXPECT_EQ(first->name, "cudnn");
  EXPECT_EQ(first->input_shapes, "1,3;2");
  EXPECT_EQ(first->input_dtypes, "FLOAT;INT64");
  EXPECT_EQ(first->host_self_ns, 30'000);
  EXPECT_EQ(result.hot_spots.computing().total_ps, 9'500'000);
}

// An operator launched the first kernel. The trace lacks the launch of the second.
TEST(Timeline, TakesTheOperatorThatLaunchedAKernelForItsType) {
  const std::string kernel = "void gemm<float, 4>(int)";
  const IngestResult result = ingest_text(
      "[" + event("cpu_op", "aten::addmm", "7", "10", "50", "") +
      event("cuda_runtime", "cudaLaunchKernel", "7", "20", "2", "\"correlation\":5") +
      event("kernel", kernel, "1", "100", "8", "\"correlation\":5") +
      event("kernel", kernel, "1", "110", "4", "\"correlation\":6") +
      event("kernel", "void gemm<double, 4>(int)", "1", "120", "2", "\"correlation\":7") + "]");
  const std::vector<HotType> types = result.hot_spots.types();
  ASSERT_THAT(types, SizeIs(2));
  EXPECT_EQ(types[0].type, "aten::addmm");
  EXPECT_EQ(types[1].type, "gemm");
  EXPECT_EQ(types[1].time.count, 2);
  EXPECT_THAT(result.hot_spots.operators(), SizeIs(3));
}

// The streams overlap from 20 to 30, and the step ends at 35. 10 to 35 is 25 us of 35; the sum of
// durations is 40.
TEST(Timeline, CountsWhatOverlapsOnce) {
  const IngestResult result = ingest_text(
      "[" + event("cpu_op", "ProfilerStep#3", "1", "0", "35", "") +
      event("kernel", "a", "1", "10", "20", "") + event("kernel", "b", "2", "20", "20", "") +
      event("kernel", "ncclKernel_AllReduce", "3", "30", "10", "") +
      event("gpu_memcpy", "Memcpy HtoD", "4", "5", "10", ""));
  ASSERT_THAT(result.trace.steps, SizeIs(1));
  const BusyTime& busy = result.trace.steps[0].busy;
  EXPECT_EQ(busy.computing_ps, 25'000'000);
  EXPECT_EQ(busy.communication_ps, 0);
  EXPECT_EQ(busy.overlapped_ps, 5'000'000);
  EXPECT_EQ(busy.copies_ps, 5'000'000);
  EXPECT_EQ(result.trace.busy.computing_ps, 30'000'000);
  EXPECT_EQ(result.hot_spots.computing().total_ps, 40'000'000);
  std::map<std::string, std::int64_t> shares;
  for (const HotOperator& one : result.hot_spots.operators()) shares[one.name] = one.step_ps;
  EXPECT_EQ(shares, (std::map<std::string, std::int64_t>{{"a", 20'000'000}, {"b", 5'000'000}}));
  EXPECT_NEAR(result.trace.step_share(25'000'000), 25.0 / 35, 1e-12);
}

// Two GPUs are two devices. Kernels that run on both at once count on both.
TEST(Timeline, KeepsDevicesApart) {
  const std::string second =
      R"({"ph":"X","cat":"kernel","name":"a","pid":2,"tid":1,"ts":10,"dur":20,"args":{}})";
  const IngestResult result =
      ingest_text("[" + event("user_annotation", "ProfilerStep#1", "1", "0", "40", "") +
                  event("kernel", "a", "1", "10", "20", "") + second + "]");
  EXPECT_EQ(result.trace.steps[0].devices, 2);
  EXPECT_EQ(result.trace.steps[0].busy.computing_ps, 40'000'000);
  EXPECT_NEAR(result.trace.step_share(40'000'000), 0.5, 1e-12);
}

// The form of torch.autograd.profiler of PyTorch 1.5, with a kernel and the arrow to it.
TEST(Timeline, ReadsTheListsOfTheOldProfiler) {
  const IngestResult result = ingest_text(
      R"([{"name": "add", "ph": "X", "ts": 60.4, "dur": 20.1, "tid": 1, "pid": "CPU functions", "args": {}}, )"
      R"({"name": "add", "ph": "s", "ts": 60.4, "tid": 1, "pid": "CPU functions", "id": 0, "cat": "cpu_to_cuda", "args": {}}, )"
      R"({"name": "void add<\"float\">", "ph": "f", "ts": 99.5, "tid": 0, "pid": "CUDA functions", "id": 0, "cat": "cpu_to_cuda", "args": {}}, )"
      R"({"name": "void add<\"float\">", "ph": "X", "ts": 99.5, "dur": 3.25, "tid": 0, "pid": "CUDA functions", "args": {}}])");
  EXPECT_EQ(result.hot_spots.computing().total_ps, 3'250'000);
  EXPECT_EQ(result.hot_spots.operators()[0].name, "void add<\"float\">");
  EXPECT_EQ(kernels_by_operator(result.trace), json({{"add", 1}}));
}

// The form of torch_npu 1.8: events of the device measure operators, so that conv2d includes the
// convolution inside. Both start at once and take the arrows in their order.
TEST(Timeline, LinksKernelsOfNpusAndCutsOutOperatorsInside) {
  const auto call = [](const char* name, int id, const char* host, const char* device) {
    const std::string begin = fmt::format(R"({{"name": "{}", )", name);
    const std::string on_npu = R"("tid": 0, "pid": "NPU functions")";
    const std::string on_host = R"("tid": 1, "pid": "CPU functions")";
    const std::string arrow = fmt::format(R"(, "id": {}, "cat": "cpu_to_npu"}}, )", id);
    return begin + R"("ph": "X", )" + on_host + ", " + host + "}, " + begin +
           fmt::format(R"("ph": "s", "ts": {}, )", 10 + 5 * id) + on_host + arrow + begin +
           R"("ph": "f", "ts": 100, )" + on_npu + arrow + begin + R"("ph": "X", )" + on_npu + ", " +
           device + "}";
  };
  const IngestResult result = ingest_text(
      "[" + call("conv2d", 0, R"("ts": 10, "dur": 20)", R"("ts": 100, "dur": 50)") + ", " +
      call("convolution", 1, R"("ts": 15, "dur": 10)", R"("ts": 100, "dur": 40)") + "]");
  EXPECT_EQ(result.trace.linked_kernels, 2);
  EXPECT_EQ(result.hot_spots.computing().total_ps, 50'000'000);
  EXPECT_EQ(result.trace.busy.computing_ps, 50'000'000);
  std::map<std::string, std::int64_t> times;
  for (const TraceOperator& one : result.trace.operators()) times[one.name] = one.kernels.total_ps;
  EXPECT_EQ(times, (std::map<std::string, std::int64_t>{{"conv2d", 10'000'000},
                                                        {"convolution", 40'000'000}}));
}

// PyTorch 1.13 wrote this profile on a CPU: conv2d > convolution > _convolution >
// mkldnn_convolution.
TEST(Timeline, ReadsAProfileWithoutADevice) {
  const IngestResult result = ingest_samples({"traces/torch_autograd_conv.prof"});
  EXPECT_TRUE(result.is_any_read());
  for (const TraceOperator& one : result.trace.operators()) {
    if (one.name != "aten::convolution") continue;
    EXPECT_EQ(one.host_self_ns, 4'191'000);  // 5387 us minus 1196 us of its children
    return;
  }
  ADD_FAILURE() << "no convolution";
}

TEST(Timeline, KeepsAllDigitsOfStartTimes) {
  const std::string late = "\"1736408883704643.212\"", later = "\"1736408883704643.213\"";
  const IngestResult result = ingest_text("[" + event("kernel", "a", "1", late, "0.001", "") +
                                          event("kernel", "b", "1", later, "0.001", "") + "]");
  EXPECT_EQ(result.trace.busy.computing_ps, 2000);
}

TEST(Timeline, SkipsEventsWithoutATimeAndReadsTheOthers) {
  const IngestResult result = ingest_text(
      "[" + event("kernel", "a", "1", "\"soon\"", "1", "") +
      event("kernel", "b", "1", "5", "-1", "") + event("kernel", "c", "1", "5", "null", "") +
      event("kernel", "d", "1", "1e30", "1", "") + event("kernel", "e", "1", "5", "2", "") +
      event("python_function", "f", "1", "{}", "[]", ""));
  EXPECT_EQ(result.hot_spots.computing().count, 1);
  EXPECT_EQ(result.files[0].rows, 2);
  EXPECT_EQ(result.files[0].skipped, 4);
  EXPECT_THAT(result.files[0].problems[0], HasSubstr("t.csv:1: 'soon' is not a time"));
}

// Sums of hostile times stop at the largest number.
TEST(Timeline, BearsTimesThatAddUpToTooMuch) {
  std::string text = "[";
  for (int i = 0; i < 20; ++i) {
    text += event("kernel", "a", std::to_string(i), std::to_string(i), "2000000000000", "");
    text += event("cpu_op", "ProfilerStep#1", "1", std::to_string(i), "2000000000000", "");
    text += event("cpu_op", "b", std::to_string(i), "-2000000000000000", "2000000000000", "");
  }
  const IngestResult result = ingest_text(text);
  EXPECT_EQ(result.hot_spots.computing().total_ps, INT64_MAX);
  EXPECT_LE(result.trace.step_share(INT64_MAX), 1e9);
}

}  // namespace
}  // namespace opbench
