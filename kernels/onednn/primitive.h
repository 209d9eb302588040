#pragma once

#include <oneapi/dnnl/dnnl.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/kernel.h"
#include "tensor/shape.h"

namespace opbench::onednn {

/// Empty if this build of oneDNN takes tensors like `desc`, else the reason.
std::string refusal(const TensorDesc& desc);

/// `desc` in oneDNN's form: NCHW and 16-channel NC1HWC0 (nChw16c) by name; other plain tensors, and
/// FRACTAL_Z with its padding, as one dense axis for element-wise primitives.
dnnl::memory::desc memory_desc(const TensorDesc& desc);

const dnnl::engine& engine();
dnnl::stream& stream();

/// A memory argument of a primitive: the input (output) of the call that is its argument `name`
/// (DNNL_ARG_*).
struct Argument {
  int name;
  dnnl::memory::desc desc;
  std::size_t position;
};

/// A primitive and its arguments.
struct Step {
  dnnl::primitive primitive;
  std::vector<Argument> inputs, outputs;
};

/// Runs the steps in order; memory is bound at each call.
Launch launch(const std::vector<Step>& steps);

/// A note if a step of a launch made by `launch` uses oneDNN's plain code ("ref:any", "simple:any")
/// instead of optimised code; else empty.
std::string launch_note(const Launch& launch);

/// The note of a variant that `kPrepare` prepares with `launch`.
template <Launch (*kPrepare)(const Problem& problem)>
std::string note_of(const Problem& problem) {
  return launch_note(kPrepare(problem));
}

/// Sets oneDNN's number of threads (OpenMP) to that of the enclosing `with_threads`.
void match_threads();

/// Empty if oneDNN moves tensors like `desc` bit for bit, else the reason. Accepts more than
/// `refusal`: integers may also be moved.
std::string movement_refusal_of(const TensorDesc& desc);

/// The first refusal of inputs and outputs.
std::string movement_refusal(const Problem& problem);

/// The refusal of a problem that joins or cuts along `axis` in NC1HWC0 inside a block of channels.
/// `parts` are the smaller tensors.
std::string blocks_refusal(std::span<const TensorDesc> parts, std::size_t axis);

/// `desc` with all its axes: dense, or nChw16c for NC1HWC0.
dnnl::memory::desc axes_desc(const TensorDesc& desc);

/// A view of dense memory.
dnnl::memory::desc view_desc(DType dtype, const StridedView& view);

/// `axis` of `desc` as axes_desc counts it.
std::size_t stored_axis(const TensorDesc& desc, std::size_t axis);

}  // namespace opbench::onednn
