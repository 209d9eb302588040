#pragma once

#include <oneapi/dnnl/dnnl.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/kernel.h"
#include "tensor/shape.h"

namespace opbench::onednn {

/// Empty if this build of oneDNN takes tensors like `desc`, else why not.
std::string refusal(const TensorDesc& desc);

/// `desc` as oneDNN describes it: NCHW and 16-channel NC1HWC0 (nChw16c) by name, other plain
/// tensors as one dense axis, and so FRACTAL_Z with its padding, for primitives that take every
/// element by itself.
dnnl::memory::desc memory_desc(const TensorDesc& desc);

const dnnl::engine& engine();
dnnl::stream& stream();

/// Memory of a primitive: which of the call's inputs (outputs) is its argument `name` (DNNL_ARG_*).
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

/// Runs the steps one after the other; memory is bound at each call.
Launch launch(const std::vector<Step>& steps);

/// What a reader should know where a step of what `launch` above returned is oneDNN's plain code
/// ("ref:any", "simple:any") and none that is made for speed; else empty.
std::string launch_note(const Launch& launch);

/// The note of a variant that `kPrepare` prepares so.
template <Launch (*kPrepare)(const Problem& problem)>
std::string note_of(const Problem& problem) {
  return launch_note(kPrepare(problem));
}

/// oneDNN's threads (OpenMP) follow those of the enclosing `with_threads`.
void match_threads();

/// Empty if oneDNN moves tensors like `desc` without changing a bit, else why not. Wider than
/// `refusal`: whole numbers may be moved, too.
std::string movement_refusal(const TensorDesc& desc);

/// The first refusal of inputs and outputs.
std::string movement_refusal(const Problem& problem);

/// Where a problem joins or cuts along `axis` in NC1HWC0: empty if that is at whole blocks of
/// channels. `parts` are the smaller tensors.
std::string blocks_refusal(std::span<const TensorDesc> parts, std::size_t axis);

/// `desc` with all its axes: dense, or nChw16c for NC1HWC0.
dnnl::memory::desc axes_desc(const TensorDesc& desc);

/// A view of dense memory.
dnnl::memory::desc view_desc(DType dtype, const StridedView& view);

/// `axis` of `desc` as axes_desc counts it.
std::size_t stored_axis(const TensorDesc& desc, std::size_t axis);

}  // namespace opbench::onednn
