#pragma once

#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <utility>
#include <vector>

#include "kernels/kernel.h"

namespace opbench::onednn {

/// Empty if this build of oneDNN takes tensors like `desc`, else why not.
std::string refusal(const TensorDesc& desc);

/// `desc` as oneDNN describes it: NCHW and 16-channel NC1HWC0 (nChw16c) by name, other plain
/// tensors as one dense axis.
dnnl::memory::desc memory_desc(const TensorDesc& desc);

const dnnl::engine& engine();
dnnl::stream& stream();

/// Memory that is given an address at each call.
dnnl::memory unbound(const dnnl::memory::desc& desc);

/// A primitive and its memory objects, named by their DNNL_ARG_* in the order of the operator's
/// inputs and outputs.
struct Bound {
  dnnl::primitive primitive;
  std::vector<std::pair<int, dnnl::memory>> inputs, outputs;

  void run(const KernelArgs& args);
};
Launch launch(Bound bound);

/// oneDNN's threads (OpenMP) follow those of the enclosing `with_threads`.
void match_threads();

}  // namespace opbench::onednn
