// The gated recurrent unit: a layer over sequences, a cell, and their gradients.
#include "ops/recurrent.h"

namespace opbench {
namespace {

constexpr std::string_view kSource =
    "torch.nn.GRU, torch.gru_cell; Cho et al. 2014, arXiv:1406.1078; CANN DynamicGRUV2";
constexpr std::string_view kFormula =
    "r, z = sigmoid(W_ih*x + b_ih + W_hh*h + b_hh); n = tanh(W_ih*x + b_ih + r*(W_hh*h + b_hh)); "
    "h = (1 - z)*n + z*h";
constexpr std::string_view kGradient =
    "dn = dh*(1 - z)*(1 - n^2), dz = dh*(h - n)*z*(1 - z), dr = dn*(W_hh*h + b_hh)*r*(1 - r), "
    "times x, h, W_ih and W_hh; dh*z before";

const RegisteredOp layer{recurrent_op<"gru">(
    kFormula, kSource,
    {.calls = {{"gru",
                "input, params/params_0|weight_ih, params/params_1|weight_hh, "
                "params/params_2|bias_ih?, params/params_3|bias_hh?, hx|h0?, lengths?",
                "result0|result|output|y, result1|h_n",
                {.attrs = "batch_first", .where = "num_layers: 1, bidirectional: 0"}},
               {"_cudnn_rnn",
                "input, weight/weight_0, weight/weight_1, weight/weight_2?, weight/weight_3?, hx?",
                "result0, result1",
                {.attrs = "batch_first",
                 .where = "num_layers: 1, bidirectional: 0",
                 .only = "mode: 3",
                 .turn = 1}}}})};

const RegisteredOp layer_grad{recurrent_op<"gru_grad">(
    kGradient, kSource, {.not_recorded = "dumps hold the gradients of its steps"})};

const RegisteredOp cell{recurrent_op<"gru_cell">(
    kFormula, kSource,
    {.calls = {{"gru_cell, GruCell",
                "input, hx|h0, w_ih|weight_ih, w_hh|weight_hh, b_ih|bias_ih?, b_hh|bias_hh?",
                "result|hy|h_n"}},
     .torch = "torch.gru_cell({0}, {1}, {2}, {3}, {4}, {5})"})};

const RegisteredOp cell_grad{recurrent_op<"gru_cell_grad">(
    kGradient, kSource, {.not_recorded = "dumps hold the gradients of its operators"})};

constexpr std::string_view kFusedSource = "aten::_thnn_fused_gru_cell; ATen's RNN.cu";

const RegisteredOp fused{recurrent_op<"gru_gates">(
    "gru_cell from the products W_ih*x and W_hh*h", kFusedSource,
    {.calls = {{"_thnn_fused_gru_cell", "input_gates, hidden_gates, hx, input_bias?, hidden_bias?",
                "result0"}}})};

const RegisteredOp fused_grad{recurrent_op<"gru_gates_grad">(
    kGradient, kFusedSource,
    {.calls = {{"ThnnFusedGruCellBackward",
                "grads/grads_0, input_gates, hidden_gates, hx, input_bias?, hidden_bias?",
                "grad_inputs/grad_inputs_0, grad_inputs/grad_inputs_1, grad_inputs/grad_inputs_2, "
                "grad_inputs/grad_inputs_3, grad_inputs/grad_inputs_4"}}})};

}  // namespace
}  // namespace opbench
