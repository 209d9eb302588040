#pragma once

namespace opbench {

struct SgdAttrs {
  float lr;
  float momentum;
  float share;  ///< of the gradient that accum takes: 1 - dampening
  float weight_decay;
  bool nesterov;
  bool first_step;  ///< accum becomes the gradient and is not read
};

/// The five buffers of an update, each at the same element.
template <class T>
struct SgdBuffers {
  const T *p, *g, *accum;
  T *new_p, *new_accum;
};

}  // namespace opbench
