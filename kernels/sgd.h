#pragma once

namespace opbench {

struct SgdAttrs {
  float lr;
  float momentum;
  float share;  ///< the factor of the gradient in accum: 1 - dampening
  float weight_decay;
  bool nesterov;
  bool first_step;  ///< accum becomes the gradient and is not read
};

/// The five buffers of an update, each from the same element on.
template <class T>
struct SgdBuffers {
  const T *p, *g, *accum;
  T *new_p, *new_accum;
};

}  // namespace opbench
