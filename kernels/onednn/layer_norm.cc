// oneDNN's layer normalisation as a variant of layer_norm and its gradient. The primitive uses the
// variance of a row. Inverse deviations are computed from it, and it from them, within the timed
// region.
#include "ops/layer_norm.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <unordered_map>
#include <utility>

#include "kernels/onednn/primitive.h"

namespace opbench {
namespace {

using Flags = dnnl::normalization_flags;
using Memory = dnnl::memory;
using Forward = dnnl::layer_normalization_forward;
using Backward = dnnl::layer_normalization_backward;

/// Descriptions of the tensors.
struct Descs {
  NormRows rows;
  Memory::desc data, statistics, vector;
  Flags flags;

  Descs(const Problem& problem, std::size_t x, bool is_scaled)
      : rows(norm_rows(problem.op->name, "self", problem.inputs[x].shape, problem.attrs)),
        data(onednn::view_desc(problem.inputs[x].dtype, dense_view({rows.rows, rows.count}))),
        statistics(onednn::view_desc(DType::fp32, dense_view({rows.rows}))),
        vector(onednn::view_desc(DType::fp32, dense_view({rows.count}))),
        flags(is_scaled ? Flags::use_scale | Flags::use_shift : Flags::none) {}

  Forward::primitive_desc forward(float eps) const {
    return {{dnnl::prop_kind::forward_training, data, statistics, eps, flags}, onednn::engine()};
  }
};

Memory unbound(const Memory::desc& desc) { return {desc, onednn::engine(), DNNL_MEMORY_NONE}; }
void bind(const Memory& memory, const void* data) {
  memory.set_data_handle(const_cast<void*>(data));
}

/// A primitive with its memory by name: tensors of the call, or own temporaries.
struct Call {
  dnnl::primitive primitive;
  std::unordered_map<int, Memory> args;

  void bind_all(std::initializer_list<std::pair<int, const void*>> data) {
    for (const auto& [name, of] : data) bind(args.at(name), of);
  }
  void run() {
    onednn::match_threads();
    primitive.execute(onednn::stream(), args);
    onednn::stream().wait();
  }
};

Launch forward(const Problem& problem) {
  onednn::match_threads();
  const bool is_scaled = problem.inputs.size() > 2;
  const Descs descs(problem, 0, is_scaled);
  const auto eps = static_cast<float>(problem.attrs.number("eps"));
  Call call{Forward(descs.forward(eps)),
            {{DNNL_ARG_SRC, unbound(descs.data)},
             {DNNL_ARG_DST, unbound(descs.data)},
             {DNNL_ARG_MEAN, unbound(descs.statistics)},
             {DNNL_ARG_VARIANCE, unbound(descs.statistics)}}};
  if (is_scaled) {
    call.args.emplace(DNNL_ARG_SCALE, unbound(descs.vector));
    call.args.emplace(DNNL_ARG_SHIFT, unbound(descs.vector));
  }
  return [call, is_scaled, eps, rows = descs.rows.rows](const KernelArgs& args) mutable {
    call.bind_all({{DNNL_ARG_SRC, args.inputs[0]},
                   {DNNL_ARG_DST, args.outputs[kNormalised]},
                   {DNNL_ARG_MEAN, args.outputs[kMean]},
                   {DNNL_ARG_VARIANCE, args.outputs[kRstd]}});
    if (is_scaled) {
      call.bind_all({{DNNL_ARG_SCALE, args.inputs[1]}, {DNNL_ARG_SHIFT, args.inputs[2]}});
    }
    call.run();
    auto* const rstd = static_cast<float*>(args.outputs[kRstd]);
    for (std::int64_t r = 0; r < rows; ++r) rstd[r] = 1 / std::sqrt(rstd[r] + eps);
  };
}

// The statistics already include eps.
Launch backward(const Problem& problem) {
  onednn::match_threads();
  const bool is_scaled = problem.inputs.size() > 4;
  const Descs descs(problem, 1, is_scaled);
  const Backward::primitive_desc desc(
      {is_scaled ? dnnl::prop_kind::backward : dnnl::prop_kind::backward_data, descs.data,
       descs.data, descs.statistics, 0.0f, descs.flags},
      onednn::engine(), descs.forward(0.0f));
  Call call{Backward(desc),
            {{DNNL_ARG_DIFF_DST, unbound(descs.data)},
             {DNNL_ARG_SRC, unbound(descs.data)},
             {DNNL_ARG_MEAN, unbound(descs.statistics)},
             {DNNL_ARG_VARIANCE, Memory(descs.statistics, onednn::engine())},
             {DNNL_ARG_DIFF_SRC, unbound(descs.data)}}};
  if (is_scaled) {
    for (const int name : {DNNL_ARG_SCALE, DNNL_ARG_DIFF_SCALE, DNNL_ARG_DIFF_SHIFT}) {
      call.args.emplace(name, unbound(descs.vector));
    }
    // Required, though no gradient depends on it.
    Memory shift(descs.vector, onednn::engine());
    std::fill_n(static_cast<float*>(shift.get_data_handle()), descs.rows.count, 0.0f);
    call.args.emplace(DNNL_ARG_SHIFT, shift);
  }
  return [call, is_scaled, rows = descs.rows.rows](const KernelArgs& args) mutable {
    const auto* const rstd = static_cast<const float*>(args.inputs[3]);
    auto* const variance = static_cast<float*>(call.args.at(DNNL_ARG_VARIANCE).get_data_handle());
    for (std::int64_t r = 0; r < rows; ++r) variance[r] = 1 / (rstd[r] * rstd[r]);
    call.bind_all({{DNNL_ARG_DIFF_DST, args.inputs[0]},
                   {DNNL_ARG_SRC, args.inputs[1]},
                   {DNNL_ARG_MEAN, args.inputs[2]},
                   {DNNL_ARG_DIFF_SRC, args.outputs[0]}});
    if (is_scaled) {
      call.bind_all({{DNNL_ARG_SCALE, args.inputs[4]},
                     {DNNL_ARG_DIFF_SCALE, args.outputs[1]},
                     {DNNL_ARG_DIFF_SHIFT, args.outputs[2]}});
    }
    call.run();
  };
}

// Its scale and shift are fp32 for data of any dtype.
std::string refuse_tensors(const Problem& problem) {
  for (const TensorDesc& input : problem.inputs) {
    if (const std::string reason = onednn::refusal(input); !reason.empty()) return reason;
    if (input.dtype != DType::fp32) return "oneDNN's scale, shift and statistics are fp32";
  }
  return {};
}

std::string refuse(const Problem& problem) {
  if (problem.inputs.size() == 2) return "oneDNN has a scale and a shift, or neither";
  return refuse_tensors(problem);
}

const RegisteredKernel layer_norm{{
    .op = "layer_norm",
    .name = "onednn",
    .provider = Provider::vendor,
    .summary = "oneDNN layer_normalization, then 1/sqrt(variance + eps)",
    .refusal = refuse,
    .prepare = forward,
}};

const RegisteredKernel layer_norm_grad{{
    .op = "layer_norm_grad",
    .name = "onednn",
    .provider = Provider::vendor,
    .summary = "oneDNN layer_normalization, backward",
    .refusal = refuse_tensors,
    .prepare = backward,
    .sums_by_thread = true,
}};

}  // namespace
}  // namespace opbench
