#pragma once

#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/kernel.h"

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

}  // namespace opbench::onednn
