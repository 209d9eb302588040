#pragma once

#include <cstddef>

#include "ops/attention.h"

namespace opbench {

/// The inputs of fused_infer_attention_score.
namespace inference_inputs {
enum Input : std::size_t {
  kQuery,
  kKey,
  kValue,
  kMask,
  kQueryLengths,
  kKeyLengths,
  kBlockTable,
  kQueryRope,
  kKeyRope,
  kKeyScale,
  kValueScale
};
}  // namespace inference_inputs

/// Likely layouts and heads of a row of a profile.
LikelyAttrs likely_inference_attention(const Shapes& inputs, const Shapes& outputs);

}  // namespace opbench
