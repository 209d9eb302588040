#include "tensor/element_map.h"

#include <algorithm>
#include <cassert>
#include <string_view>

namespace opbench {
namespace {

MapAxis whole_axis(std::int64_t extent, std::int64_t stride) {
  return {.extent = extent, .block = std::max<std::int64_t>(extent, 1), .inner_stride = stride};
}

ElementMap row_major_map(const Dims& dims) {
  const Dims strides = row_major_strides(dims);
  ElementMap map;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    map.axes.push_back(whole_axis(dims[i], strides[i]));
  }
  return map;
}

/// The axes of `format` as stored, outermost first: N C D H W whole, n N rounded up to whole
/// fractals, c and 0 the two halves of C. FRACTAL_NZ cuts its matrices like a weight of N rows.
std::string_view storage_order(Format format) {
  switch (format) {
    case Format::NHWC:
      return "NHWC";
    case Format::HWCN:
      return "HWCN";
    case Format::NDHWC:
      return "NDHWC";
    case Format::NC1HWC0:
      return "NcHW0";
    case Format::NDC1HWC0:
      return "NDcHW0";
    case Format::FRACTAL_Z:
      return "cHWn0";
    case Format::FRACTAL_Z_3D:
      return "DcHWn0";
    default:
      return "cn0";  // FRACTAL_NZ
  }
}

/// The extents that the map speaks of, and a letter for each; batch axes of FRACTAL_NZ have none.
struct Logical {
  Dims dims;
  std::string_view letters;

  explicit Logical(const TensorDesc& desc) : dims(desc.shape) {
    if (desc.format == Format::FRACTAL_NZ) {
      if (dims.size() < 2) dims.resize(2, 1);
      letters = "NC";
    } else if (dims.size() == 5) {
      letters = "NCDHW";
    } else {
      dims = expand_to_nchw(dims);
      letters = "NCHW";
    }
  }
  std::size_t batches() const { return dims.size() - letters.size(); }
  std::size_t axis(char part) const {
    const char letter = part == 'c' || part == '0' ? 'C' : part == 'n' ? 'N' : part;
    return batches() + letters.find(letter);
  }
};

/// Gives each part of the storage order its stride, innermost first; returns the size of all.
std::int64_t set_strides(ElementMap& map, const Logical& logical, std::string_view order,
                         const FractalGroups& packed, int c0) {
  std::int64_t stride = 1;
  for (std::size_t i = order.size(); i-- > 0;) {
    const std::size_t index = logical.axis(order[i]);
    MapAxis& axis = map.axes[index];
    if (order[i] == 'c') {
      axis.outer_stride = stride;
      stride *= packed.c1;
      continue;
    }
    axis.inner_stride = stride;
    if (order[i] == '0') {
      axis.block = c0;
      map.cut_axis = static_cast<int>(index);
    }
    stride *= order[i] == '0' ? c0 : order[i] == 'n' ? packed.n1 * kFractalRows : axis.extent;
  }
  for (std::size_t i = logical.batches(); i-- > 0; stride *= map.axes[i].extent) {
    map.axes[i].inner_stride = stride;
  }
  return stride;
}

}  // namespace

bool is_row_major(const TensorDesc& desc) {
  return desc.format == desc.origin || desc.format == Format::ND || desc.format == Format::NCHW ||
         desc.format == Format::NCDHW;
}

bool has_padding(const TensorDesc& desc) { return desc.elements() != desc.storage_elements(); }

ElementMap element_map(const TensorDesc& desc) {
  const Dims stored = desc.storage();  // throws for what does not fit
  if (is_row_major(desc)) return row_major_map(stored);
  const Logical logical(desc);
  ElementMap map;
  for (const std::int64_t extent : logical.dims) map.axes.push_back(whole_axis(extent, 0));
  const bool grouped = desc.format == Format::FRACTAL_Z && desc.groups > 1;
  const std::int64_t n = map.axes[logical.axis('N')].extent, c = map.axes[logical.axis('C')].extent;
  const FractalGroups packed = is_private(desc.format)
                                   ? fractal_groups(n, c, grouped ? desc.groups : 1, desc.c0)
                                   : FractalGroups{};
  const std::int64_t size = set_strides(map, logical, storage_order(desc.format), packed, desc.c0);
  if (grouped) {
    map.group_rows = std::max<std::int64_t>(n / desc.groups, 1);
    map.together = packed.together;
    map.axes[0].block = map.group_rows * map.together;
    map.axes[0].outer_stride = size;
  }
  return map;
}

std::int64_t offset(const ElementMap& map, std::span<const std::int64_t> indices) {
  assert(indices.size() == map.axes.size());
  std::int64_t result = 0;
  for (std::size_t i = 0; i < map.axes.size(); ++i) {
    MapAxis axis = map.axes[i];
    if (map.together > 1 && i == 1) {
      axis.phase = indices[0] / map.group_rows % map.together * axis.extent;
    }
    result += axis.offset(indices[i]);
  }
  return result;
}

}  // namespace opbench
