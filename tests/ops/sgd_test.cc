#include <gmock/gmock.h>

#include <cmath>

#include "tensor/error.h"
#include "tests/conforms.h"
#include "tests/evaluate.h"
#include "tests/support.h"

namespace opbench {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

namespace {

struct Step {
  std::vector<double> parameters, accum;
};

Step run(std::string_view variant, const std::vector<std::vector<double>>& values,
         const AttrTexts& attrs) {
  const Op& op = find_op("sgd");
  const auto count = static_cast<std::int64_t>(values[0].size());
  const TensorDesc desc = describe(DType::fp32, {count});
  const Problem problem = make_problem(op, {desc, desc, desc}, attrs_of(op, attrs));
  std::vector<Tensor> inputs, outputs;
  std::vector<const Tensor*> in;
  for (const auto& value : values) {
    from_doubles(desc.dtype, value.data(), count, inputs.emplace_back(desc).data());
  }
  for (const Tensor& input : inputs) in.push_back(&input);
  outputs.emplace_back(desc);
  outputs.emplace_back(desc);
  run_kernel(find_kernel("sgd", variant), problem, in, {&outputs[0], &outputs[1]});
  const auto read = [&](const Tensor& tensor) {
    std::vector<double> result(values[0].size());
    to_doubles(desc.dtype, tensor.data(), count, result.data());
    return result;
  };
  return {read(outputs[0]), read(outputs[1])};
}

constexpr const char* kSgdVariants[] = {"native", "fused"};

std::vector<TensorDesc> buffers(Dims shape) {
  return std::vector<TensorDesc>(3, describe(DType::fp32, std::move(shape)));
}

}  // namespace

// Source: torch 1.13, SGD, first step. accum becomes the gradient, without dampening. The buffer's
// earlier content is not read.
TEST(Sgd, FirstStepMakesAccum) {
  const double nan = std::nan("");
  on_every_isa([&] {
    for (const char* variant : kSgdVariants) {
      const auto first = [&](const AttrTexts& attrs) {
        AttrTexts all = attrs;
        all.insert({{"lr", "0.5"}, {"first_step", "true"}});
        return run(variant, {{1, -2, 3}, {0.5, 1, -4}, {nan, nan, nan}}, all);
      };
      const Step damped =
          first({{"momentum", "0.5"}, {"dampening", "0.5"}, {"weight_decay", "0.25"}});
      EXPECT_THAT(damped.accum, ElementsAre(0.75, 0.5, -3.25)) << variant;
      EXPECT_THAT(damped.parameters, ElementsAre(0.625, -2.25, 4.625)) << variant;
      const Step ahead =
          first({{"momentum", "0.5"}, {"nesterov", "true"}, {"weight_decay", "0.5"}});
      EXPECT_THAT(ahead.accum, ElementsAre(1, 0, -2.5)) << variant;
      EXPECT_THAT(ahead.parameters, ElementsAre(0.25, -2, 4.875)) << variant;
    }
  });
}

// 1031 elements fill several vectors and leave a tail.
TEST(Sgd, FirstStepConforms) {
  const Op& op = find_op("sgd");
  const Problem problem = make_problem(
      op, buffers({1031}), attrs_of(op, {{"first_step", "true"}, {"dampening", "0.5"}}));
  for (const char* variant : kSgdVariants) {
    EXPECT_TRUE(expect_conforms(find_kernel("sgd", variant), problem, 2));
  }
  // accum is not read.
  EXPECT_EQ(op.traffic(problem).bytes(), 4 * 1031 * 4);
}

TEST(Sgd, FirstStepNeedsAMomentum) {
  const Op& op = find_op("sgd");
  EXPECT_THAT(
      [&] {
        make_problem(op, buffers({3}), attrs_of(op, {{"first_step", "true"}, {"momentum", "0"}}));
      },
      ThrowsMessage<Error>(HasSubstr("sgd: first_step needs a momentum, found 0")));
}

// p = 1, 2, g = 0.5, -1, accum = 4, 8, lr = 0.25, momentum 0.5: all exact.
TEST(Sgd, Momentum) {
  on_every_isa([] {
    for (const char* variant : kSgdVariants) {
      const Step step = run(variant, {{1, 2}, {0.5, -1}, {4, 8}},
                            {{"lr", "0.25"}, {"momentum", "0.5"}, {"sizes", "[1,1]"}});
      EXPECT_THAT(step.accum, ElementsAre(2.5, 3)) << variant;
      EXPECT_THAT(step.parameters, ElementsAre(0.375, 1.25)) << variant;
    }
  });
}

// g = 0.5 + 0.5*1 = 1; accum = 0.5*4 + 0.75*1 = 2.75; p = 1 - 0.25*2.75.
TEST(Sgd, WeightDecayAndDampening) {
  for (const char* variant : kSgdVariants) {
    const Step step =
        run(variant, {{1}, {0.5}, {4}},
            {{"lr", "0.25"}, {"momentum", "0.5"}, {"weight_decay", "0.5"}, {"dampening", "0.25"}});
    EXPECT_THAT(step.accum, ElementsAre(2.75)) << variant;
    EXPECT_THAT(step.parameters, ElementsAre(0.3125)) << variant;
  }
}

// g = 1, accum = 3, p = 1 - 0.25*(1 + 0.5*3).
TEST(Sgd, Nesterov) {
  for (const char* variant : kSgdVariants) {
    const Step step =
        run(variant, {{1}, {0.5}, {4}},
            {{"lr", "0.25"}, {"momentum", "0.5"}, {"weight_decay", "0.5"}, {"nesterov", "true"}});
    EXPECT_THAT(step.accum, ElementsAre(3)) << variant;
    EXPECT_THAT(step.parameters, ElementsAre(0.375)) << variant;
  }
}

TEST(Sgd, WithoutMomentumAccumIsLeftAlone) {
  for (const char* variant : kSgdVariants) {
    const Step step = run(variant, {{1}, {0.5}, {4}}, {{"lr", "0.25"}, {"momentum", "0"}});
    EXPECT_THAT(step.accum, ElementsAre(4)) << variant;
    EXPECT_THAT(step.parameters, ElementsAre(0.875)) << variant;
  }
}

// The formula of torch.optim.SGD, written out, gives the reference's result of the first case.
TEST(Sgd, ReferenceIsTheFormula) {
  EXPECT_THAT(reference_values("sgd", DType::fp32, {{1, 2}, {0.5, -1}, {4, 8}},
                               {{"lr", "0.25"}, {"momentum", "0.5"}}),
              ElementsAre(0.375, 1.25));
}

// Tensors of odd sizes, stored one after the other, give the result of one buffer.
TEST(Sgd, SizesDoNotChangeTheResult) {
  std::vector<std::vector<double>> values(3);
  for (std::size_t i = 0; i < 3; ++i) {
    for (int k = 0; k < 1000; ++k) values[i].push_back(std::sin(double(k) + 100.0 * double(i)));
  }
  const Step whole = run("native", values, {{"weight_decay", "1e-4"}});
  for (const char* variant : kSgdVariants) {
    const Step parts =
        run(variant, values, {{"weight_decay", "1e-4"}, {"sizes", "[1,63,64,65,300,507]"}});
    EXPECT_EQ(parts.parameters, whole.parameters) << variant;
    EXPECT_EQ(parts.accum, whole.accum) << variant;
  }
}

TEST(Sgd, ErrorsNameTheRule) {
  const Op& op = find_op("sgd");
  const auto error_of = [&](Dims shape, const AttrTexts& attrs) -> std::string {
    try {
      make_problem(op, buffers(std::move(shape)), attrs_of(op, attrs));
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(error_of({6}, {{"sizes", "[1,2]"}}),
            "sgd: sizes add up to 3, but the buffers hold 6 elements");
  EXPECT_EQ(error_of({6}, {{"sizes", "[4,3]"}}),
            "sgd: sizes[1] is 3, but 2 of 6 elements are left");
  EXPECT_EQ(error_of({6}, {{"sizes", "[6,0]"}}),
            "sgd: sizes[1] is 0; a tensor has at least 1 element");
  EXPECT_THAT(error_of({2, 3}, {}), HasSubstr("flat buffers of one axis, found fp32[2x3]"));
  EXPECT_THAT(error_of({6}, {{"nesterov", "true"}, {"dampening", "0.5"}}),
              HasSubstr("nesterov needs a momentum and no dampening"));
  EXPECT_THAT(error_of({6}, {{"weight_decay", "-1"}}), HasSubstr("it must be 0 or more"));
}

TEST(Sgd, TrafficIsThreeReadsAndTwoWrites) {
  const Op& op = find_op("sgd");
  const Traffic traffic = op.traffic(make_problem(op, buffers({10}), Attrs(op.attrs)));
  EXPECT_EQ(traffic.bytes_read, 120);
  EXPECT_EQ(traffic.bytes_written, 80);
}

}  // namespace opbench
