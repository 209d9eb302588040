#include "ops/conv2d_reference.h"

#include <fmt/format.h>

#include "tensor/error.h"

namespace opbench {

void store_weight_beside(const TensorDesc& x, const Attrs& attrs, TensorDesc& weight) {
  if (x.format != Format::NC1HWC0 || weight.shape.size() != 4) return;
  const std::int64_t groups = attrs.integer("groups");
  // Where the groups do not fit the weight, infer says so; it is stored as it came.
  if (weight.shape[0] % groups != 0) return;
  weight = describe(weight.dtype, weight.shape, Format::FRACTAL_Z);
  weight.groups = static_cast<int>(groups);
}

void require_groups_stored(std::string_view op, const TensorDesc& weight, std::int64_t groups) {
  if (weight.format != Format::FRACTAL_Z || weight.groups == groups) return;
  throw Error(fmt::format("{}: 'weight' is stored in FRACTAL_Z for {} groups; allowed: {}", op,
                          weight.groups, groups));
}

void for_each_plane(ElementRange range, std::int64_t plane,
                    const std::function<void(std::int64_t, ElementRange, std::int64_t)>& body) {
  for (std::int64_t i = 0; i < range.count;) {
    const std::int64_t element = range.first + i, inside = element % plane;
    const std::int64_t count = std::min(plane - inside, range.count - i);
    body(element / plane, {inside, count}, i);
    i += count;
  }
}

}  // namespace opbench
