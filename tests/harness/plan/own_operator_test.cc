// An operator in one file: its definition is all that a context needs to plan, name and verify it.
#include <gmock/gmock.h>

#include "harness/plan/plan_tasks.h"
#include "kernels/kernel.h"
#include "ops/elementwise.h"
#include "ops/movement.h"
#include "tensor/error.h"
#include "tests/harness/context_support.h"
#include "tests/harness/run/run_step.h"

namespace opbench {
namespace {

using testing::Contains;
using testing::ElementsAre;

std::optional<FormatChoice> blocks_on_the_device(const FormatQuery& query) {
  if (!query.is_on_device) return std::nullopt;
  return FormatChoice{Format::NC1HWC0, "test_twice: the device has it in NC1HWC0"};
}

std::optional<FormatChoice> plain_where_the_rule_says_so(const FormatQuery& query) {
  if (!query.rules.concat_output_nchw) return std::nullopt;
  return FormatChoice{Format::NCHW, "test_twice: the output is NCHW"};
}

std::string refuse_bf16(const Problem& problem, const FrameworkRules&) {
  return problem.inputs[0].dtype == DType::bf16 ? "test_twice: no bf16" : "";
}

const RegisteredOp twice{{
    .name = "test_twice",
    .ir_name = "twice",
    .summary = "y = 2*x",
    .source = "this test",
    .inputs = {{"x"}},
    .outputs = {{"y"}},
    .dtypes = kArithmeticDTypes,
    .formats = kElementwiseFormats,
    .infer = [](std::span<const TensorDesc> in,
                const Attrs&) { return infer_elementwise("test_twice", in); },
    .reference =
        [](std::span<const InputReader> inputs, const Attrs&) {
          return unary_reference(inputs[0], [](double x) { return 2 * x; });
        },
    .traffic = [](const Problem& problem) { return elementwise_traffic(problem, 1); },
    .context = {.device_name = "Twice",
                .input_format = blocks_on_the_device,
                .output_format = plain_where_the_rule_says_so,
                .engine_refusal = refuse_bf16,
                .factor = [](const Attrs&) { return 2.0; }},
}};

// Computes on the storage, including padding.
Launch prepare(const Problem& problem) {
  return [desc = problem.inputs[0]](const KernelArgs& args) {
    std::vector<double> values(static_cast<std::size_t>(desc.storage_elements()));
    to_doubles(desc.dtype, args.inputs[0], std::ssize(values), values.data());
    for (double& value : values) value *= 2;
    from_doubles(desc.dtype, values.data(), std::ssize(values), args.outputs[0]);
  };
}

const RegisteredKernel native{{.op = "test_twice",
                               .name = "native",
                               .provider = Provider::framework,
                               .summary = "one pass",
                               .prepare = prepare}};
const RegisteredKernel on_device{{.op = "test_twice",
                                  .name = "test_double",
                                  .provider = Provider::npu,
                                  .summary = "one pass",
                                  .prepare = prepare,
                                  .device_name = "DoubleD"}};

// The views of a tensor's halves along axis 0, as one operator or as two copies.
std::vector<ComposedCall> two_copies(const Problem& problem, std::string_view) {
  const std::int64_t half = problem.outputs[0].shape[0];
  std::vector<ComposedCall> calls;
  for (std::size_t i = 0; i < 2; ++i) {
    const std::pair<std::string_view, AttrValue> view[] = {
        {"view",
         "slice(0," + std::to_string(half * std::int64_t(i)) + "," + std::to_string(half) + ")"}};
    calls.push_back({"contiguous",
                     {{ComposedArg::input, 0}},
                     attrs_with("contiguous", view),
                     "half" + std::to_string(i),
                     i});
  }
  return calls;
}

const RegisteredOp halves{{
    .name = "test_halves",
    .ir_name = "halves",
    .summary = "y0, y1 = the first N/2 rows of x and the next N/2",
    .source = "this test",
    .inputs = {{"x"}},
    .outputs = {{"y"}},
    .dtypes = kArithmeticDTypes,
    .formats = kPlainFormats,
    .accuracy = AccuracyClass::exact,
    .infer =
        [](std::span<const TensorDesc> inputs, const Attrs&) {
          Dims shape = inputs[0].shape;
          if (shape.empty()) throw Error("test_halves: a scalar has no halves");
          shape[0] /= 2;
          return std::vector<TensorDesc>(2, with_shape(inputs[0], shape));
        },
    .exact_reference =
        [](std::span<const InputReader> inputs, const Attrs&) {
          Dims shape = inputs[0].desc().shape;
          shape[0] /= 2;
          const std::int64_t half = element_count(shape);
          return moved(inputs, [half](std::size_t output, std::int64_t element) {
            return SourceRun{0, std::int64_t(output) * half + element, half - element};
          });
        },
    .traffic = movement_traffic,
    .context = {.forms = {"native"}, .compose = two_copies},
}};

const RegisteredKernel halved{{
    .op = "test_halves",
    .name = "native",
    .provider = Provider::framework,
    .summary = "two copies",
    .prepare = [](const Problem& problem) -> Launch {
      return [bytes = problem.outputs[0].bytes()](const KernelArgs& args) {
        const auto* from = static_cast<const std::byte*>(args.inputs[0]);
        for (std::size_t i = 0; i < 2; ++i) {
          std::copy_n(from + i * bytes, bytes, static_cast<std::byte*>(args.outputs[i]));
        }
      };
    },
}};

ContextBuilder context_of(const std::string& op) {
  ContextBuilder builder("own");
  builder.input("x", {2, 18, 3, 5}).node(op, {"x"}, {"y"}).output("y");
  return builder;
}

std::vector<std::string> tasks_of(const PlannedStep& step) {
  std::vector<std::string> tasks;
  for (std::size_t i = 0; i < step.graph.nodes.size(); ++i) {
    tasks.push_back(task_type(step.graph.nodes[i], *step.selection.kernels[i]));
  }
  return tasks;
}

}  // namespace

TEST(OwnOperator, IsStoredAndNamedAsItSays) {
  const ContextBuilder builder = context_of("test_twice");
  ContextStep step = builder.step();
  step.rules.concat_output_nchw = true;
  const PlannedStep planned = builder.plan(step);
  ASSERT_EQ(planned.refusal(), "");
  EXPECT_THAT(chain_of(planned), ElementsAre(">NC1HWC0", "test_twice", ">NCHW"));
  EXPECT_THAT(tasks_of(planned), ElementsAre("TransData", "DoubleD", "TransData"));
  EXPECT_EQ(planned.graph.nodes[0].cause, "test_twice: the device has it in NC1HWC0");
  EXPECT_EQ(planned.graph.nodes[2].cause, "test_twice: the output is NCHW");
}

TEST(OwnOperator, IsCalledAfterTheOperatorInTheFramework) {
  const ContextBuilder builder = context_of("test_twice");
  ContextStep step = builder.step();
  step.variants["test_twice"] = {"native"};
  EXPECT_THAT(tasks_of(builder.plan(step)), ElementsAre("Twice"));
}

TEST(OwnOperator, IsRefusedAsItSays) {
  const ContextBuilder builder = context_of("test_twice");
  EXPECT_THAT(builder.plan(builder.step(), DType::bf16).refusal(),
              testing::HasSubstr("test_twice: no bf16"));
}

TEST(OwnOperator, IsVerifiedWhereItRuns) {
  const ContextBuilder builder = context_of("test_twice");
  const PlannedStep planned = builder.plan(builder.step());
  const std::vector<StepResult> results = results_of(planned);
  EXPECT_EQ(numbers_of(results, "y").size(), 2u * 18 * 3 * 5);
}

TEST(OwnOperator, IsWrittenOutAsItSays) {
  const ContextBuilder builder = context_of("test_halves");
  const PlannedStep planned = builder.plan(builder.step());
  ASSERT_EQ(planned.refusal(), "");
  EXPECT_THAT(chain_of(planned), ElementsAre("contiguous", "contiguous"));
  EXPECT_EQ(planned.graph.nodes[1].name, "test_halves0.half1");
  EXPECT_FALSE(results_of(planned).empty());
}

}  // namespace opbench
