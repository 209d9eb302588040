#include <algorithm>

#include "ops/movement.h"
#include "ops/view_text.h"

namespace opbench {
namespace {

StridedView view_of(const Dims& base, const Attrs& attrs) {
  return parse_view(attrs.word("view"), base);
}

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  return {with_shape(inputs[0], view_of(inputs[0].shape, attrs).shape)};
}

ExactReference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  return moved(inputs, viewed(view_of(inputs[0].desc().shape, attrs)));
}

// Elements that the view repeats (stride 0) are read once; elements outside the view are not read.
Traffic traffic(const Problem& problem) {
  const StridedView view = view_of(problem.inputs[0].shape, problem.attrs);
  double viewed_elements = 1;
  for (std::size_t i = 0; i < view.shape.size(); ++i) {
    if (view.strides[i] != 0 || view.shape[i] == 0) viewed_elements *= double(view.shape[i]);
  }
  const TensorDesc& base = problem.inputs[0];
  return {
      .bytes_read = std::min(double(base.bytes()), viewed_elements * double(size_of(base.dtype))),
      .bytes_written = double(problem.outputs[0].bytes())};
}

std::vector<std::string> variants(const FrameworkRules& rules) {
  if (rules.contiguous == FrameworkRules::Contiguous::native) return {"native"};
  return {"gather_v2", "as_strided"};
}

const RegisteredOp registered{{
    .name = "contiguous",
    .ir_name = "contiguous",
    .summary = "y = a strided view of x in dense memory",
    .source = "torch.Tensor.contiguous; CANN AsStrided, Transpose, Slice, BroadcastTo",
    .known_as = {.not_recorded = "dumps hold a copy of a view as what reshape computes",
                 .profiled = {{"Slice", "x, =offsets, =size", "y"},
                              {"StridedSlice", "x, =begin, =end, =strides", "y"},
                              {"AsStrided", "x, =size, =stride, =storage_offset", "y"}}},
    .inputs = {{"x", "self"}},
    .outputs = {{"y", "result"}},
    .attrs = {{"view", std::string("transpose(0,1)"),
               "steps that make the view: transpose(a,b).permute(...).slice(axis,start,length,step)"
               ".select(axis,index).broadcast(...) or as_strided([shape],[strides],offset)"}},
    .dtypes = kMovableDTypes,
    .formats = kPlainFormats,
    .accuracy = AccuracyClass::exact,
    .infer = infer,
    .exact_reference = reference,
    .traffic = traffic,
    .context = {.variants = variants, .view_copies = ViewCopies::always},
}};

}  // namespace
}  // namespace opbench
