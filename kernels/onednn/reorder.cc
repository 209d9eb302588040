// oneDNN's reorder as a variant of transpose, between two orders of strides, and of trans_data,
// between the layouts that oneDNN names.
#include <fmt/format.h>

#include <memory>

#include "kernels/onednn/primitive.h"
#include "ops/rearrange.h"
#include "tensor/element_map.h"

namespace opbench {
namespace {

Launch transpose(const Problem& problem) {
  onednn::match_threads();
  const Dims& shape = problem.inputs[0].shape;
  const DType dtype = problem.inputs[0].dtype;
  const StridedView view = permute(dense_view(shape), transpose_perm(shape, problem.attrs));
  const auto from = onednn::view_desc(dtype, view);
  const auto to = onednn::view_desc(dtype, dense_view(view.shape));
  const dnnl::reorder::primitive_desc desc(onednn::engine(), from, onednn::engine(), to);
  return onednn::launch(
      {{dnnl::reorder(desc), {{DNNL_ARG_FROM, from, 0}}, {{DNNL_ARG_TO, to, 0}}}});
}

const RegisteredKernel transpose_kernel{{
    .op = "transpose",
    .name = "onednn",
    .provider = Provider::vendor,
    .summary = "oneDNN reorder from permuted strides",
    .refusal = onednn::movement_refusal,
    .prepare = transpose,
}};

// oneDNN 2.6 on Arm rounds s32 to fp32, and misplaces f32 in FRACTAL_NZ with a tail (7x35).
#ifndef __aarch64__

using Tag = dnnl::memory::format_tag;
using Type = dnnl::memory::data_type;

// Elements are moved without computation, so only their size matters. The selected types are those
// that a reorder preserves bit for bit, including NaN payloads.
Type moved_type(DType dtype) {
  switch (size_of(dtype)) {
    case 1:
      return Type::s8;
    case 2:
      return Type::bf16;
    case 4:
      return Type::s32;
    default:
      return Type::undef;
  }
}

// The extents common to both sides; empty if a matrix has more than two axes.
Dims common_dims(const TensorDesc& x, const TensorDesc& y) {
  const bool is_matrix = x.format == Format::FRACTAL_NZ || y.format == Format::FRACTAL_NZ;
  if (is_matrix) return x.shape.size() == 2 ? x.shape : Dims{};
  return x.shape.size() == 5 ? x.shape : expand_to_nchw(x.shape);
}

Tag plain_tag(std::size_t rank) { return rank == 2 ? Tag::ab : rank == 4 ? Tag::abcd : Tag::abcde; }

Tag blocked_tag(int c0) { return c0 == 8 ? Tag::nChw8c : c0 == 16 ? Tag::nChw16c : Tag::nChw32c; }

bool is_matrix_of_8(const TensorDesc& desc) {
  return desc.format == Format::FRACTAL_NZ && desc.c0 == 8;
}

// Returns undef if oneDNN does not name the layout.
Tag tag_of(const TensorDesc& desc, std::size_t rank) {
  if (is_row_major(desc)) return plain_tag(rank);
  switch (desc.format) {
    case Format::NHWC:
      return Tag::nhwc;
    case Format::HWCN:
      return Tag::cdba;
    case Format::NDHWC:
      return Tag::ndhwc;
    case Format::NC1HWC0:
      return rank == 4 ? blocked_tag(desc.c0) : Tag::undef;
    case Format::FRACTAL_NZ:
      return is_matrix_of_8(desc) ? Tag::undef : desc.c0 == 16 ? Tag::BA16a16b : Tag::BA16a32b;
    default:
      return Tag::undef;
  }
}

std::string refuse(const Problem& problem) {
  const TensorDesc &x = problem.inputs[0], &y = problem.outputs[0];
  const Dims dims = common_dims(x, y);
  if (moved_type(x.dtype) == Type::undef) return "oneDNN moves no 64-bit types";
  if (size_of(x.dtype) == 2 && dnnl::get_effective_cpu_isa() < dnnl::cpu_isa::avx512_core) {
    return "oneDNN moves 16-bit types from AVX-512 on only";
  }
  if (dims.empty()) return "oneDNN has names for a FRACTAL_NZ of one matrix only";
  if (x.elements() == 0) return "oneDNN takes no empty tensors here";
  for (const TensorDesc* desc : {&x, &y}) {
    if (tag_of(*desc, dims.size()) != Tag::undef) continue;
    return fmt::format("oneDNN has no name for {}{}", name(desc->format),
                       is_matrix_of_8(*desc) ? " with blocks of 8" : "");
  }
  return {};
}

struct Reorder {
  dnnl::memory from, to;
  dnnl::reorder primitive;

  void run(const KernelArgs& args) {
    onednn::match_threads();
    from.set_data_handle(const_cast<void*>(args.inputs[0]));
    to.set_data_handle(args.outputs[0]);
    primitive.execute(onednn::stream(), from, to);
    onednn::stream().wait();
  }
};

dnnl::memory memory_of(const TensorDesc& desc, const Dims& dims) {
  return {{dims, moved_type(desc.dtype), tag_of(desc, dims.size())},
          onednn::engine(),
          DNNL_MEMORY_NONE};
}

Launch trans_data(const Problem& problem) {
  onednn::match_threads();
  const TensorDesc &x = problem.inputs[0], &y = problem.outputs[0];
  const Dims dims = common_dims(x, y);
  const dnnl::memory from = memory_of(x, dims), to = memory_of(y, dims);
  const auto reorder = std::make_shared<Reorder>(Reorder{from, to, dnnl::reorder(from, to)});
  return [reorder](const KernelArgs& args) { reorder->run(args); };
}

const RegisteredKernel trans_data_kernel{{
    .op = "trans_data",
    .name = "onednn",
    .provider = Provider::vendor,
    .summary = "oneDNN reorder",
    .refusal = refuse,
    .prepare = trans_data,
}};

#endif  // __aarch64__

}  // namespace

}  // namespace opbench
