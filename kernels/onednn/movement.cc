#include "kernels/onednn/movement.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace opbench::onednn {
namespace {

using Type = dnnl::memory::data_type;

std::optional<Type> data_type(DType dtype) {
  switch (dtype) {
    case DType::fp32:
      return Type::f32;
    case DType::bf16:
      return Type::bf16;
    case DType::int32:
      return Type::s32;
    case DType::int8:
      return Type::s8;
    case DType::uint8:
    case DType::boolean:
      return Type::u8;
    default:
      return {};
  }
}

}  // namespace

std::string movement_refusal(const TensorDesc& desc) {
  if (desc.dtype == DType::bf16) return refusal(desc);
  if (!data_type(desc.dtype)) {
    return fmt::format("oneDNN {}.{} has no {} on the CPU", DNNL_VERSION_MAJOR, DNNL_VERSION_MINOR,
                       name(desc.dtype));
  }
  TensorDesc of_any_type = desc;
  of_any_type.dtype = DType::fp32;
  return refusal(of_any_type);
}

std::string movement_refusal(const Problem& problem) {
  for (const auto* tensors : {&problem.inputs, &problem.outputs}) {
    for (const TensorDesc& tensor : *tensors) {
      if (tensor.shape.size() > 6) {
        return fmt::format("oneDNN is used for up to 6 dimensions here, found {}",
                           tensor.shape.size());
      }
      if (const std::string reason = movement_refusal(tensor); !reason.empty()) return reason;
    }
  }
  return {};
}

std::string blocks_refusal(std::span<const TensorDesc> parts, std::size_t axis) {
  for (const TensorDesc& part : parts) {
    if (part.format != Format::NC1HWC0 || stored_axis(part, axis) != 1) continue;
    const std::int64_t channels = part.shape[axis];
    if (channels % 16 != 0) {
      return fmt::format("oneDNN joins and cuts nChw16c at multiples of 16 channels, found {}",
                         channels);
    }
  }
  return {};
}

dnnl::memory::desc axes_desc(const TensorDesc& desc) {
  if (desc.format != Format::NC1HWC0) return view_desc(desc.dtype, dense_view(desc.shape));
  return {expand_to_nchw(desc.shape), *data_type(desc.dtype), dnnl::memory::format_tag::nChw16c};
}

dnnl::memory::desc view_desc(DType dtype, const StridedView& view) {
  if (view.shape.empty()) return {{1}, *data_type(dtype), dnnl::memory::dims{1}};
  return {view.shape, *data_type(dtype), view.strides};
}

std::size_t stored_axis(const TensorDesc& desc, std::size_t axis) {
  const bool is_expanded = desc.format == Format::NC1HWC0 && desc.shape.size() < 4;
  return is_expanded ? axis + 1 : axis;
}

}  // namespace opbench::onednn
