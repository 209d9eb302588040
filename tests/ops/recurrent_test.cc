#include <gmock/gmock.h>

#include <cmath>

#include "tensor/error.h"
#include "tests/conforms.h"
#include "tests/ops/finite_difference.h"
#include "tests/ops/values.h"

namespace opbench {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pointwise;
using testing::ThrowsMessage;

namespace {

Given fp32(const Dims& shape, std::vector<double> values) {
  return {kFp32, shape, std::move(values)};
}
Given nothing() { return fp32({0}, {}); }

// Small numbers, so that gates are not saturated.
Given small(const Dims& shape, int seed) {
  Given given = spread(shape, seed);
  for (double& value : given.values) value /= 8;
  return given;
}

// Inputs of a layer with 3 steps, 2 sequences, 2 features and 3 states.
std::vector<Given> inputs_of(std::string_view op) {
  const bool is_lstm = op.starts_with("lstm");
  const std::int64_t width = is_lstm ? 12 : 9;
  std::vector<Given> all = {small({3, 2, 2}, 1), small({width, 2}, 2), small({width, 3}, 3),
                            small({width}, 4),   small({width}, 5),    small({1, 2, 3}, 6)};
  if (is_lstm) all.push_back(small({1, 2, 3}, 7));
  return all;
}

auto near(const std::vector<double>& values) {
  return Pointwise(testing::DoubleNear(1e-5), values);
}

// The layer's results by calls of the cell.
Values by_cells(std::string_view op, const std::vector<Given>& in) {
  const std::string cell = std::string(op) + "_cell";
  Given h = in[5], c = in.back();
  h.shape = c.shape = {2, 3};
  Values all(1);
  for (std::size_t s = 0; s < 3; ++s) {
    const auto first = in[0].values.begin() + std::ptrdiff_t(4 * s);
    std::vector<Given> of_cell = {fp32({2, 2}, {first, first + 4}), h};
    if (op == "lstm") of_cell.push_back(c);
    of_cell.insert(of_cell.end(), in.begin() + 1, in.begin() + 5);
    const Values found = reference_of_tensors(cell, of_cell);
    h.values = found[0];
    c.values = found.back();
    all[0].insert(all[0].end(), h.values.begin(), h.values.end());
  }
  all.push_back(h.values);
  if (op == "lstm") all.push_back(c.values);
  return all;
}

// A variant's results are those of the reference.
void expect_agreement(std::string_view op, const std::vector<Given>& inputs,
                      const AttrTexts& attrs = {}) {
  const Values expected = reference_of_tensors(op, inputs, attrs);
  const Values found = kernel_on_tensors(op, "native", inputs, attrs);
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_THAT(found[i], near(expected[i])) << i;
}

}  // namespace

// The weights are 0. Gates i 1/2, f 3/4, g 1/2, o 3/4: c is 3/4*2 + 1/2*1/2.
TEST(Recurrent, LstmByHand) {
  const double c = 1.75;
  const std::vector<Given> given = {fp32({1, 1}, {1}),
                                    fp32({1, 1}, {5}),
                                    fp32({1, 1}, {2}),
                                    fp32({4, 1}, {0, 0, 0, 0}),
                                    fp32({4, 1}, {0, 0, 0, 0}),
                                    fp32({4}, {0, std::log(3), 0, 0}),
                                    fp32({4}, {0, 0, std::atanh(0.5), std::log(3)})};
  for (const Values& found :
       {reference_of_tensors("lstm_cell", given), kernel_on_tensors("lstm_cell", "native", given),
        kernel_on_tensors("lstm_cell", "dynamic_rnn", given)}) {
    EXPECT_THAT(found[0], ElementsAre(DoubleNear(0.75 * std::tanh(c), 5e-4)));
    EXPECT_THAT(found[1], ElementsAre(DoubleNear(c, 1e-6)));
  }
}

// r 1/4 acts on the bias of h, 4 atanh(1/2); n 1/2, z 3/4: h is 1/4*1/2 + 3/4*5.
TEST(Recurrent, GruByHand) {
  const std::vector<Given> given = {fp32({1, 1}, {1}),
                                    fp32({1, 1}, {5}),
                                    fp32({3, 1}, {0, 0, 0}),
                                    fp32({3, 1}, {0, 0, 0}),
                                    fp32({3}, {-std::log(3), std::log(3), 0}),
                                    fp32({3}, {0, 0, 4 * std::atanh(0.5)})};
  for (const Values& found :
       {reference_of_tensors("gru_cell", given), kernel_on_tensors("gru_cell", "native", given),
        kernel_on_tensors("gru_cell", "dynamic_gru_v2", given)}) {
    EXPECT_THAT(found[0], ElementsAre(DoubleNear(3.875, 2e-3)));
  }
}

TEST(Recurrent, LayersAreCellsInTurn) {
  for (const char* op : {"lstm", "gru"}) {
    const Values layer = reference_of_tensors(op, inputs_of(op)),
                 cells = by_cells(op, inputs_of(op));
    for (std::size_t i = 0; i < layer.size(); ++i) EXPECT_THAT(layer[i], near(cells[i]));
    expect_agreement(op, inputs_of(op));
  }
}

// Each form of a call has the results of the plain form on other inputs.
TEST(Recurrent, FormsOfACall) {
  for (const char* op : {"lstm", "gru"}) {
    std::vector<Given> in = inputs_of(op);
    const Values plain = reference_of_tensors(op, in);
    const std::vector<double>& x = in[0].values;
    std::vector<Given> turned = in;
    turned[0].values = {x[8], x[9], x[10], x[11], x[4], x[5], x[6], x[7], x[0], x[1], x[2], x[3]};
    EXPECT_THAT(reference_of_tensors(op, turned, {{"reverse", "true"}})[1], near(plain[1]));
    expect_agreement(op, turned, {{"reverse", "true"}});
    std::vector<Given> by_batch = in;
    by_batch[0] =
        fp32({2, 3, 2}, {x[0], x[1], x[4], x[5], x[8], x[9], x[2], x[3], x[6], x[7], x[10], x[11]});
    EXPECT_THAT(reference_of_tensors(op, by_batch, {{"batch_first", "true"}})[1], near(plain[1]));
    expect_agreement(op, by_batch, {{"batch_first", "true"}});
  }
}

// Rows of the second and third gate are exchanged, or of the first and second.
TEST(Recurrent, OrdersOfGates) {
  const auto exchanged = [](Given& given, std::size_t gate) {
    const auto rows = std::ptrdiff_t(3 * given.values.size() / std::size_t(given.shape[0]));
    const auto first = given.values.begin() + std::ptrdiff_t(gate) * rows;
    std::swap_ranges(first, first + rows, first + rows);
  };
  for (const auto& [op, order, gate] :
       {std::tuple{"lstm", "igfo", 1u}, std::tuple{"gru", "zrn", 0u}}) {
    std::vector<Given> in = inputs_of(op);
    const Values plain = reference_of_tensors(op, in);
    for (std::size_t i = 1; i < 5; ++i) exchanged(in[i], gate);
    EXPECT_THAT(reference_of_tensors(op, in, {{"gate_order", order}})[0], near(plain[0]));
    expect_agreement(op, in, {{"gate_order", order}});
  }
}

TEST(Recurrent, ForgetBiasIsABiasOfTheForgetGate) {
  std::vector<Given> in = inputs_of("lstm");
  const Values with_attribute = reference_of_tensors("lstm", in, {{"forget_bias", "1"}});
  expect_agreement("lstm", in, {{"forget_bias", "1"}});
  for (std::size_t i = 3; i < 6; ++i) in[3].values[i] += 1;
  EXPECT_THAT(reference_of_tensors("lstm", in)[2], near(with_attribute[2]));
}

// The second sequence ends after one step: its state stays, y is 0.
TEST(Recurrent, LengthsOfSequences) {
  for (const char* op : {"lstm", "gru"}) {
    std::vector<Given> in = inputs_of(op);
    const Values plain = reference_of_tensors(op, in);
    in.push_back({DType::int64, {2}, {3, 1}});
    const Values found = reference_of_tensors(op, in);
    const std::vector<double>& y = found[0];
    EXPECT_THAT(std::vector(y.begin() + 9, y.begin() + 12), ElementsAre(0, 0, 0));
    EXPECT_THAT(std::vector(y.begin(), y.begin() + 6),
                near(std::vector(plain[0].begin(), plain[0].begin() + 6)));
    EXPECT_THAT(std::vector(found[1].begin() + 3, found[1].end()),
                near(std::vector(plain[0].begin() + 3, plain[0].begin() + 6)));
    expect_agreement(op, in);
    expect_agreement(op, in, {{"reverse", "true"}});
  }
}

TEST(Recurrent, Gradients) {
  for (const char* op : {"lstm", "gru"}) {
    std::vector<Given> in = inputs_of(op);
    expect_gradients({op, in});
    in.push_back({DType::int64, {2}, {3, 1}});
    in[4] = nothing();
    expect_gradients({op, in, {{"reverse", "true"}}});
  }
  expect_gradients({"lstm", inputs_of("lstm"), {{"gate_order", "igfo"}, {"forget_bias", "1"}}});
  expect_gradients({"gru", inputs_of("gru"), {{"gate_order", "zrn"}}});
  expect_gradients({"lstm_cell",
                    {small({2, 2}, 1), small({2, 3}, 2), small({2, 3}, 3), small({12, 2}, 4),
                     small({12, 3}, 5)}});
  expect_gradients(
      {"gru_cell",
       {small({2, 2}, 1), small({2, 3}, 2), small({9, 2}, 3), small({9, 3}, 4), small({9}, 5)}});
}

// Gates from given products; gradients of the products and of the state.
TEST(Recurrent, FusedCellsTakeProducts) {
  for (const auto& [op, width] : {std::pair{"lstm", 12}, std::pair{"gru", 9}}) {
    const std::string name(op);
    const Given x = small({2, width}, 1), h = small({2, width}, 2), state = small({2, 3}, 3);
    const std::vector<Given> fused = {x, h, state, small({width}, 4), small({width}, 5)};
    expect_agreement(name + "_gates", fused);
    expect_gradients({name + "_gates", fused});
    expect_gradients({name + "_gates", {x, h, state}});
  }
}

// Units beyond a vector, several blocks of units and of rows, missing inputs.
TEST(Recurrent, Conforms) {
  for (const DType dtype : {DType::fp32, DType::fp16, DType::bf16}) {
    for (const auto& [op, gates] : {std::pair{"lstm", 4}, std::pair{"gru", 3}}) {
      const Dims y = {40, 3, 81}, state = {1, 3, 81}, x = {40, 3, 5};
      const std::int64_t width = gates * 81;
      std::vector<Dims> shapes = {x, {width, 5}, {width, 81}, {0}, {width}, state};
      if (gates == 4) shapes.push_back(state);
      shapes.push_back({3});
      std::vector<Dims> of_grad = {y, state};
      if (gates == 4) of_grad.push_back(state);
      of_grad.insert(of_grad.end(), shapes.begin(), shapes.end());
      for (const auto& [name, inputs] :
           {std::pair{std::string(op), shapes}, {std::string(op) + "_grad", of_grad}}) {
        const Problem problem = problem_with(find_op(name), inputs, {{"reverse", "true"}}, dtype);
        for (const Kernel* kernel : kernels_of(name)) {
          EXPECT_EQ(expect_conforms(*kernel, problem, 2), refusal(*kernel, problem).empty());
        }
      }
    }
  }
}

TEST(Recurrent, NamesWhatItRefuses) {
  const auto refused = [](const char* op, const std::vector<Dims>& shapes, const char* text) {
    EXPECT_THAT([&] { problem_with(find_op(op), shapes, {}, kFp32); },
                ThrowsMessage<Error>(HasSubstr(text)));
  };
  refused("lstm", {{3, 2}, {8, 2}, {8, 2}},
          "lstm: 'input' has shape 3x2; allowed: [steps, sequences, features]");
  refused("gru", {{3, 1, 2}, {8, 2}, {8, 2}}, "'weight_hh' has shape 8x2; allowed: [3 H, H]");
  refused("lstm", {{3, 1, 2}, {8, 3}, {8, 2}}, "'weight_ih' has shape 8x3; allowed: 8x2");
  refused("lstm", {{3, 1, 2}, {8, 2}, {8, 2}, {8}, {8}, {2, 1, 2}},
          "'h0' has shape 2x1x2; allowed: 1x1x2, states of one layer in one direction");
  refused("lstm", {{3, 1, 2}, {0}, {8, 2}}, "'weight_ih' has shape 0; allowed: 8x2");
  refused("lstm_gates", {{3, 8}, {0}, {3, 2}}, "'hidden_gates' has shape 0; allowed: 3x8");
  refused("gru_grad", {{3, 1, 2}, {1, 2}, {3, 1, 2}, {6, 2}, {6, 2}},
          "'grad_h_n' has shape 1x2; allowed: 1x1x2, as the result");
  std::vector<Given> in = inputs_of("gru");
  in.push_back({DType::int64, {2}, {3, 4}});
  EXPECT_THAT([&] { reference_of_tensors("gru", in); }, ThrowsMessage<Error>(HasSubstr("lengths")));
}

}  // namespace opbench
