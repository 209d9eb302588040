#include "ops/reduction.h"

#include <fmt/format.h>

#include "tensor/error.h"

namespace opbench {

AttrSpec reduction_attr() {
  return {"reduction", std::string("mean"), "of the losses: mean, sum or none",
          [](const AttrValue& value) -> std::string {
            const auto& word = std::get<std::string>(value);
            const bool is_known = word == "mean" || word == "sum" || word == "none";
            return is_known ? "" : "it must be mean, sum or none";
          }};
}

Reduction reduction_of(const Attrs& attrs) {
  const std::string& word = attrs.word("reduction");
  return word == "mean" ? Reduction::mean : word == "sum" ? Reduction::sum : Reduction::none;
}

Dims reduced_loss(const Attrs& attrs, const Dims& parts) {
  return reduction_of(attrs) == Reduction::none ? parts : Dims{};
}

void require_loss_gradient(std::string_view op, const TensorDesc& grad_output, const Attrs& attrs,
                           const Dims& parts) {
  const Dims allowed = reduced_loss(attrs, parts);
  if (grad_output.shape == allowed) return;
  throw Error(fmt::format("{}: 'grad_output' has shape {}; allowed: {}", op,
                          to_string(grad_output.shape),
                          allowed.empty() ? "a scalar" : to_string(allowed)));
}

}  // namespace opbench
