// Long short-term memory: a layer over sequences, a cell, and their gradients.
#include "ops/recurrent.h"

namespace opbench {
namespace {

constexpr std::string_view kSource =
    "torch.nn.LSTM, torch.lstm_cell; Hochreiter and Schmidhuber 1997; CANN DynamicRNN";
constexpr std::string_view kFormula =
    "i, f, o = sigmoid, g = tanh of W_ih*x + b_ih + W_hh*h + b_hh; c = f*c + i*g; h = o*tanh(c)";
constexpr std::string_view kGradient =
    "dc += dh*o*(1 - tanh(c)^2); the gates' gradients times x, h, W_ih and W_hh; dc*f before";

const RegisteredOp layer{recurrent_op<"lstm">(
    kFormula, kSource,
    {.calls = {{"lstm",
                "input, params/params_0|weight_ih, params/params_1|weight_hh, "
                "params/params_2|bias_ih?, params/params_3|bias_hh?, hx/hx_0|h0?, hx/hx_1|c0?, "
                "lengths?",
                "result0|result|output|y, result1|h_n, result2|c_n",
                {.attrs = "batch_first", .where = "num_layers: 1, bidirectional: 0"}},
               {"_cudnn_rnn",
                "input, weight/weight_0, weight/weight_1, weight/weight_2?, weight/weight_3?, hx?, "
                "cx?",
                "result0, result1, result2",
                {.attrs = "batch_first",
                 .where = "num_layers: 1, bidirectional: 0",
                 .only = "mode: 2"}}}})};

const RegisteredOp layer_grad{recurrent_op<"lstm_grad">(
    kGradient, kSource, {.not_recorded = "dumps hold the gradients of its steps"})};

const RegisteredOp cell{recurrent_op<"lstm_cell">(
    kFormula, kSource,
    {.calls = {{"lstm_cell, LstmCell",
                "input, hx/hx_0|h0|hx, hx/hx_1|c0|cx, w_ih|weight_ih, w_hh|weight_hh, "
                "b_ih|bias_ih?, b_hh|bias_hh?",
                "result0|result|hy|h_n, result1|cy|c_n"}},
     .torch = "torch.lstm_cell({0}, ({1}, {2}), {3}, {4}, {5}, {6})"})};

const RegisteredOp cell_grad{recurrent_op<"lstm_cell_grad">(
    kGradient, kSource, {.not_recorded = "dumps hold the gradients of its operators"})};

constexpr std::string_view kFusedSource = "aten::_thnn_fused_lstm_cell; ATen's RNN.cu";

const RegisteredOp fused{recurrent_op<"lstm_gates">(
    "lstm_cell from the products W_ih*x and W_hh*h", kFusedSource,
    {.calls = {{"_thnn_fused_lstm_cell", "input_gates, hidden_gates, cx, input_bias?, hidden_bias?",
                "result0, result1"}}})};

const RegisteredOp fused_grad{recurrent_op<"lstm_gates_grad">(
    kGradient, kFusedSource,
    {.calls = {{"ThnnFusedLstmCellBackward",
                "grads/grads_0, grads/grads_1, input_gates, hidden_gates, cx, input_bias?, "
                "hidden_bias?",
                "grad_inputs/grad_inputs_0, grad_inputs/grad_inputs_1, grad_inputs/grad_inputs_2, "
                "grad_inputs/grad_inputs_3, grad_inputs/grad_inputs_4"}}})};

}  // namespace
}  // namespace opbench
