#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "ops/op.h"

namespace opbench {

/// The gate of a mixture of experts: shares of the experts of a token, and the choice of its k
/// experts by their scores.
struct Gating {
  std::int64_t tokens, experts, k;
  bool is_sigmoid = false;   ///< shares are sigmoid(x), else softmax(x)
  bool by_logits = false;    ///< scores are x itself; else the shares plus a bias, if given
  bool sums_to_one = false;  ///< shares are divided by the sum of those of the chosen experts
  std::int64_t groups = 1, kept_groups = 1;  ///< only experts of the best groups are candidates
  bool sums_two =
      false;  ///< the score of a group is that of its best two experts, else of its best
  double factor = 1, eps = 0;  ///< y = share/(sum + eps)*factor

  /// For a use of moe_gating_top_k_softmax or moe_gating_top_k.
  Gating(const TensorDesc& x, const Attrs& attrs);

  std::int64_t group_size() const { return experts / groups; }
};

/// The reference of a gate: the chosen experts and their shares, then the shares and scores of all
/// experts, each with the magnitudes of its terms.
struct Gated {
  std::vector<std::int64_t> chosen;
  std::vector<double> y, y_terms, shares, share_terms, scores, score_terms;

  /// Input 1 is the mask of finished tokens or the bias; input 2, if there is one, has the experts
  /// that were chosen elsewhere (see IndexChoice).
  Gated(std::span<const InputReader> inputs, const Attrs& attrs);
};

/// The shares of experts in moe_gating_grad: softmax of all or of the chosen ones, or sigmoids over
/// their sum.
enum class GateShares { softmax, chosen, sigmoid };
GateShares gate_shares(std::string_view word);

/// The gradient of a use of moe_gating_top_k_softmax or moe_gating_top_k. Errors: throws Error if
/// tokens may be finished.
std::vector<GradientCall> gradient_of_gate(const Problem& forward);

}  // namespace opbench
