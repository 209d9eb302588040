// Dropout with a mask of bits, as the device draws it.
#include <fmt/format.h>

#include "ops/elementwise.h"
#include "ops/movement.h"
#include "tensor/error.h"

namespace opbench {
namespace {

constexpr std::string_view kName = "dropout_do_mask";

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs&) {
  const std::int64_t least = (inputs[0].elements() + 7) / 8;
  if (inputs[1].elements() >= least) return {inputs[0]};
  throw Error(fmt::format("{}: 'mask' has {} bytes; allowed: {} or more, a bit for each element",
                          kName, inputs[1].elements(), least));
}

// A product with 0, not a selection: dropped NaN and Inf become NaN.
Reference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  const double scale = 1 / attrs.number("keep_prob");
  std::vector<double> y = inputs[0].read_all();
  const std::vector<double> mask = inputs[1].read_all();
  for (std::size_t i = 0; i < y.size(); ++i) {
    const bool is_kept = (static_cast<unsigned>(mask[i / 8]) >> (i % 8) & 1) != 0;
    y[i] *= (is_kept ? 1.0 : 0.0) * scale;
  }
  return elements_of({std::move(y)});
}

const RegisteredOp registered{{
    .name = kName,
    .ir_name = "DropOutDoMask",
    .summary = "y = x*bit/keep_prob; bit i of the mask is bit i mod 8, the lowest first, of byte "
               "i/8",
    .source = "CANN DropOutDoMask; the bits as in the drop mask of FlashAttentionScore",
    .known_as = {.calls = {{"DropOutDoMask, DropOutDoMaskV3",
                            "x|self, mask",
                            "y|out",
                            {.attrs = "keep_prob", .needs = "keep_prob"}},
                           // A profile has keep_prob as a tensor, without its value.
                           {"DropOutDoMask, DropOutDoMaskV3",
                            "x, mask",
                            "y",
                            {.attrs = "keep_prob", .is_profiled_only = true}}},
                 .profiled = {{"DropOutDoMask, DropOutDoMaskV3", "x, mask"}}},
    .inputs = {{"x"},
               {.name = "mask",
                .dtypes = {DType::uint8},
                .data =
                    [](const Problem&) {
                      return Distribution{DistributionKind::integers, 0, 255};
                    }}},
    .outputs = {{"y"}},
    .attrs = {{"keep_prob", 0.9, "share of the elements that are kept",
               [](const AttrValue& value) -> std::string {
                 const double keep = std::get<double>(value);
                 return keep > 0 && keep <= 1 ? "" : "it must be above 0 and at most 1";
               }}},
    .dtypes = kArithmeticDTypes,
    .formats = kPlainFormats,
    .infer = infer,
    .reference = reference,
    .traffic = [](const Problem& problem) { return elementwise_traffic(problem, 2); },
    .gradient =
        [](const Problem&) {
          return std::vector<GradientCall>{
              {kName, {{GradientArg::output_gradient, 0}, {GradientArg::input, 1}}}};
        },
    .inputs_like =
        [](const Dims& shape, const Attrs&) {
          return std::vector<Dims>{shape, {(element_count(shape) + 7) / 8}};
        },
}};

}  // namespace
}  // namespace opbench
