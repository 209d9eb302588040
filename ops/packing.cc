// Numbers in the forms in which devices take them: int4 in larger integers, scales in int64.
#include "ops/packing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ops/cast.h"
#include "ops/integers.h"
#include "ops/movement.h"
#include "ops/quantise.h"
#include "tensor/error.h"

namespace opbench {
namespace {

constexpr std::string_view kPack = "pack_int4", kParam = "trans_quant_param";

DType packed_dtype(const Attrs& attrs) { return parse_dtype(attrs.word("to")); }
std::int64_t packed_count(DType to) { return static_cast<std::int64_t>(2 * size_of(to)); }

std::vector<TensorDesc> infer_pack(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const DType to = packed_dtype(attrs);
  const std::int64_t count = packed_count(to);
  Dims shape = inputs[0].shape;
  if (shape.empty() || shape.back() % count != 0) {
    throw Error(fmt::format("{}: 'weight' has shape {}; allowed for {}: a last axis of whole {}s",
                            kPack, to_string(shape), name(to), count));
  }
  shape.back() /= count;
  return {describe(to, shape)};
}

// The first element has the lowest four bits.
ExactReference reference_pack(std::span<const InputReader> inputs, const Attrs& attrs) {
  return [x = inputs[0], to = packed_dtype(attrs)](std::size_t, ElementRange range, void* out) {
    thread_local std::vector<double> values;
    const std::int64_t count = packed_count(to);
    values.resize(static_cast<std::size_t>(range.count * count));
    x.read({range.first * count, range.count * count}, values);
    std::vector<std::int64_t> packed(static_cast<std::size_t>(range.count));
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto place = static_cast<std::int64_t>(i) % count;
      packed[i / static_cast<std::size_t>(count)] |= (static_cast<std::int64_t>(values[i]) & 15)
                                                     << (4 * place);
    }
    wrap_integers(packed, to, out);
  };
}

std::string no_packed_dtype(const AttrValue& value) {
  const auto& word = std::get<std::string>(value);
  return word == "int32" || word == "uint8" ? "" : "it must be int32 or uint8";
}

std::vector<TensorDesc> infer_param(std::span<const TensorDesc> inputs, const Attrs&) {
  const TensorDesc& scale = inputs[0];
  if (is_given(inputs, 1)) require_channels(kParam, "offset", inputs[1], scale.elements());
  return {describe(DType::int64, scale.shape)};
}

ExactReference reference_param(std::span<const InputReader> inputs, const Attrs&) {
  const std::int64_t channels = inputs[0].desc().elements();
  return [scale = inputs[0].read_all(), offset = read_channels(inputs, 1, channels, 0)](
             std::size_t, ElementRange range, void* to) {
    for (std::int64_t i = 0; i < range.count; ++i) {
      const auto c = static_cast<std::size_t>(range.first + i);
      static_cast<std::int64_t*>(to)[i] = packed_quant_param(float(scale[c]), float(offset[c]));
    }
  };
}

const RegisteredOp pack{{
    .name = kPack,
    .ir_name = "npu_convert_weight_to_int4pack",
    .summary = "the low four bits of whole numbers, eight in an int32 or two in a byte",
    .source = "torch_npu.npu_convert_weight_to_int4pack",
    .known_as = {.calls = {{"npu_convert_weight_to_int4pack",
                            "weight",
                            "result|out",
                            {.attrs = "to: dtype of result|out", .where = "inner_k_tiles: 0"}}}},
    .inputs = {{.name = "weight",
                .data = [](const Problem&) -> Distribution {
                  return {DistributionKind::integers, -8, 7};
                }}},
    .outputs = {{"result"}},
    .attrs = {{"to", std::string("int32"), "int32 or uint8", no_packed_dtype}},
    .dtypes = {DType::int32, DType::int8, DType::int4},
    .formats = kPlainFormats,
    .accuracy = AccuracyClass::exact,
    .infer = infer_pack,
    .exact_reference = reference_pack,
    .traffic = movement_traffic,
    .inputs_like = [](const Dims& shape, const Attrs& attrs) -> std::vector<Dims> {
      Dims whole = shape;
      const std::int64_t count = packed_count(packed_dtype(attrs));
      if (!whole.empty()) whole.back() = quotient_up(whole.back(), count) * count;
      return {whole};
    },
}};

const RegisteredOp param{{
    .name = kParam,
    .ir_name = "npu_trans_quant_param",
    .summary = "int64 with the upper 19 bits of a scale, bit 46, and an offset from bit 37 on",
    .source = "CANN TransQuantParamV2; torch_npu.npu_trans_quant_param, round_mode 0",
    .known_as = {.calls = {{"npu_trans_quant_param, TransQuantParamV2",
                            "scale, offset?",
                            "y|result|out",
                            {.where = "round_mode: 0"}}}},
    .inputs = {{"scale", "scale", {}, divisor_data},
               {"offset",
                "offset",
                {DType::fp32},
                [](const Problem&) -> Distribution {
                  return {DistributionKind::uniform, -300, 300};
                }}},
    .outputs = {{"y", "result"}},
    .optional_inputs = 1,
    .dtypes = {DType::fp32},
    .formats = kPlainFormats,
    .accuracy = AccuracyClass::exact,
    .infer = infer_param,
    .exact_reference = reference_param,
    .traffic = movement_traffic,
    .inputs_like = [](const Dims& shape, const Attrs&) -> std::vector<Dims> {
      return {shape, {1}};
    },
}};

}  // namespace

std::int64_t packed_quant_param(float scale, float offset) {
  constexpr std::uint64_t kIsPacked = std::uint64_t{1} << 46, kNineBits = 511;
  constexpr int kOffsetPlace = 37;
  const float clipped =
      std::isnan(offset) ? 0 : std::clamp(std::nearbyint(offset), -256.0f, 255.0f);
  const auto bits = static_cast<std::uint64_t>(static_cast<std::int64_t>(clipped)) & kNineBits;
  const auto upper = std::bit_cast<std::uint32_t>(packed_scale(std::bit_cast<std::int32_t>(scale)));
  return static_cast<std::int64_t>(kIsPacked | bits << kOffsetPlace | upper);
}

}  // namespace opbench
