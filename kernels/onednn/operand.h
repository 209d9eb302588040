#pragma once

#include <oneapi/dnnl/dnnl.hpp>

#include "kernels/onednn/primitive.h"

namespace opbench::onednn {

/// A tensor of a primitive that chose its layout itself: in place where that is how the tensor is
/// stored, else reordered from or to a temporary in every call, within the timed region.
class Operand {
 public:
  enum Direction { input, output };

  Operand(Direction direction, const dnnl::memory::desc& stored, const dnnl::memory::desc& wanted)
      : stored_(stored, engine(), DNNL_MEMORY_NONE),
        inside_(stored == wanted ? stored_ : dnnl::memory(wanted, engine())) {
    if (stored == wanted) return;
    reorder_ =
        direction == input ? dnnl::reorder(stored_, inside_) : dnnl::reorder(inside_, stored_);
  }

  /// What the primitive is given.
  const dnnl::memory& memory() const { return inside_; }
  void bind(const void* data) { stored_.set_data_handle(const_cast<void*>(data)); }
  /// Before the primitive runs.
  void load() {
    if (reorder_) reorder_.execute(stream(), stored_, inside_);
  }
  /// After it.
  void store() {
    if (reorder_) reorder_.execute(stream(), inside_, stored_);
  }

 private:
  dnnl::memory stored_, inside_;
  dnnl::reorder reorder_;
};

}  // namespace opbench::onednn
