// Tests the activations of PyTorch's training steps that are recomputed, with a correct and a wrong
// record of each.
#include "tests/compare/judged_records.h"

namespace opbench {
namespace {

class JudgeActivations : public JudgedRecords {};

}  // namespace

TEST_F(JudgeActivations, Activations) {
  for (const double wrong : {0.0, 1.0}) {
    for (const auto& [name, result] :
         {std::pair("silu_", 0.0), {"hardswish_", 0.0}, {"hardsigmoid", 0.5}}) {
      begin(name);
      input("self", {1}, {0});
      output(std::string(name).ends_with('_') ? "self" : "result", {1}, {result + wrong});
    }
    for (const char* name : {"SiluBackward0", "HardswishBackward0"}) {
      begin(name);
      input(kGrads, {1}, {4});
      input("self", {1}, {0});
      output(kResult, {1}, {2 + wrong});
    }
    begin("HardsigmoidBackward0");
    input(kGrads, {2}, {6, 6});
    input("self", {2}, {0, 3});
    output(kResult, {2}, {1, wrong});
    begin("HardtanhBackward0");
    input(kGrads, {2}, {5, 6});
    input("self", {2}, {0, 3});
    number("min_val", 0);
    number("max_val", 6);
    output(kResult, {2}, {0, 6 + wrong});
    begin("leaky_relu_");
    input("self", {2}, {-2, 4});
    writer_.write_input_scalar("negative_slope", 0.5);
    output("self", {2}, {-1, 4 + wrong});
    begin("LeakyReluBackward1");
    input(kGrads, {2}, {5, 6});
    input("result", {2}, {-1, 4});
    writer_.write_input_scalar("negative_slope", 0.5);
    output(kResult, {2}, {2.5, 6 + wrong});
  }
  expect_halves();
}

// The form of gelu is a word, which dumps record as a number.
TEST_F(JudgeActivations, GeluOfBothForms) {
  constexpr double kByErf = 0.8413447, kByTanh = 0.8411920;
  for (const auto& [of_none, of_tanh] : {std::pair(kByErf, kByTanh), {kByTanh, kByErf}}) {
    begin("gelu");
    input("self", {1}, {1});
    output("result", {1}, {of_none});
    begin("gelu");
    input("self", {1}, {1});
    number("approximate", 1);
    output("result", {1}, {of_tanh});
  }
  expect_halves();
}

// The word is not recorded. Ascend's Gelu is the tanh form; the default of other devices is the erf
// form.
TEST_F(JudgeActivations, GeluOfAnNpuIsByTanh) {
  for (const double result : {0.8411920, 0.8413447}) {
    begin("gelu", DeviceType::npu);
    input("self", {1}, {1});
    output("result", {1}, {result});
  }
  expect_halves();
}

}  // namespace opbench
