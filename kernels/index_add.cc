#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/index_add.cc"
#include "kernels/index_add.h"

#include <hwy/foreach_target.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "kernels/kernel.h"
#include "kernels/simd/elementwise.h"
#include "kernels/simd/simd-inl.h"
#include "tensor/half.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {
namespace {

struct AddScaled {
  float alpha;
  HWY_INLINE VF32 operator()(VF32 y, VF32 x) const {
    return hn::Add(y, hn::Mul(hn::Set(F32(), alpha), x));
  }
};

// y += alpha*x. For rows shorter than a vector, single elements are faster.
template <class T>
HWY_INLINE void add_row(const IndexAddCall& call, std::size_t count, const T* x, T* y) {
  if (count >= hn::Lanes(F32())) {
    return map(AddScaled{call.alpha}, false, count, y, static_cast<const T*>(y), x);
  }
  for (std::size_t j = 0; j < count; ++j) y[j] = T(float(y[j]) + call.alpha * float(x[j]));
}

template <class T>
void copy_columns(const IndexAddCall& call, const T* self, std::size_t count, T* y) {
  const auto inner = static_cast<std::size_t>(call.inner);
  if (count == inner) {
    std::memcpy(y, self, static_cast<std::size_t>(call.extent) * inner * sizeof(T));
    return;
  }
  for (std::int64_t k = 0; k < call.extent; ++k) {
    std::memcpy(y + k * call.inner, self + k * call.inner, count * sizeof(T));
  }
}

// Computes elements [begin, end) of the output, row by row.
template <class T>
void select_rows(const IndexAddCall& call, std::int64_t begin, std::int64_t end) {
  const auto* self = static_cast<const T*>(call.self);
  for (std::int64_t at = begin; at < end;) {
    const std::int64_t row = at / call.inner, first = at % call.inner;
    const std::int64_t count = std::min(call.inner - first, end - at);
    const std::int64_t place = row % call.extent;
    const T* x =
        static_cast<const T*>(call.source) + (row - place + call.index[place]) * call.inner + first;
    map(AddScaled{call.alpha}, call.stream, static_cast<std::size_t>(count),
        static_cast<T*>(call.y) + at, self + at, x);
    at += count;
  }
}

// Like the function above, for rows shorter than a vector: their addends are collected first.
template <class T>
void select_elements(const IndexAddCall& call, std::int64_t begin, std::int64_t end) {
  constexpr std::int64_t kPiece = 1024;  // elements; 4 KiB of fp32
  T addend[kPiece];
  const auto* source = static_cast<const T*>(call.source);
  const std::int64_t row = begin / call.inner;
  std::int64_t first = begin % call.inner, place = row % call.extent, outer = row - place;
  for (std::int64_t at = begin; at < end; at += kPiece) {
    const std::int64_t count = std::min(kPiece, end - at);
    for (std::int64_t i = 0; i < count; ++i) {
      addend[i] = source[(outer + call.index[place]) * call.inner + first];
      if (++first < call.inner) continue;
      first = 0;
      if (++place < call.extent) continue;
      place = 0;
      outer += call.extent;
    }
    map(AddScaled{call.alpha}, false, static_cast<std::size_t>(count), static_cast<T*>(call.y) + at,
        static_cast<const T*>(call.self) + at, static_cast<const T*>(addend));
  }
}

}  // namespace

// Copies the columns of self, unless self is null because that was done before; then adds the rows
// of the source in order.
void add_columns(DType dtype, const IndexAddCall& call, const IndexAddColumns& columns) {
  visit_arithmetic(dtype, [&](auto tag) {
    using T = decltype(tag);
    const auto count = static_cast<std::size_t>(columns.last - columns.first);
    const std::int64_t place = columns.outer * call.extent * call.inner + columns.first;
    T* y = static_cast<T*>(call.y) + place;
    const T* x = static_cast<const T*>(call.source) + columns.outer * call.added * call.inner +
                 columns.first;
    if (call.self != nullptr) {
      copy_columns(call, static_cast<const T*>(call.self) + place, count, y);
    }
    for (std::int64_t i = 0; i < call.added; ++i) {
      add_row(call, count, x + i * call.inner, y + call.index[i] * call.inner);
    }
  });
}

// Computes elements [begin, end) of the output in order; call.index is the source row of each
// place.
void select_range(DType dtype, const IndexAddCall& call, std::int64_t begin, std::int64_t end) {
  visit_arithmetic(dtype, [&](auto tag) {
    using T = decltype(tag);
    const bool short_rows = call.inner < static_cast<std::int64_t>(hn::Lanes(F32()));
    (short_rows ? select_elements<T> : select_rows<T>)(call, begin, end);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opbench {
namespace {

HWY_EXPORT(add_columns);
HWY_EXPORT(select_range);

Launch prepare_index_add(const Problem& problem) {
  return [plan = IndexAddPlan(problem)](const KernelArgs& args) mutable {
    plan.read_index(args.inputs[1]);
    IndexAddCall call = plan.call(args, plan.index);
    // Few outer indices are divided into columns for the threads, and columns are slow to copy.
    if (plan.view.outer < 2 * thread_count()) {
      parallel_ranges(plan.elements() * static_cast<std::int64_t>(size_of(plan.dtype)), 64 << 10,
                      [&](std::int64_t begin, std::int64_t end) {
                        std::memcpy(static_cast<std::byte*>(call.y) + begin,
                                    static_cast<const std::byte*>(call.self) + begin,
                                    static_cast<std::size_t>(end - begin));
                      });
      call.self = nullptr;
    }
    for_each_column_range(plan.view,
                          [&](std::int64_t outer, std::int64_t first, std::int64_t last) {
                            HWY_DYNAMIC_DISPATCH(add_columns)
                            (plan.dtype, call, {outer, first, last});
                          });
  };
}

// The values determine if every place occurs once, so a refusal cannot check it.
void invert(IndexAddPlan& plan) {
  std::fill(plan.inverse.begin(), plan.inverse.end(), -1);
  for (std::size_t i = 0; i < plan.index.size(); ++i) {
    std::int64_t& row = plan.inverse[static_cast<std::size_t>(plan.index[i])];
    if (row >= 0) {
      throw RefusedValues("'index' is not a permutation of the axis: a place occurs twice");
    }
    row = static_cast<std::int64_t>(i);
  }
}

Launch prepare_index_select(const Problem& problem) {
  return [plan = IndexAddPlan(problem)](const KernelArgs& args) mutable {
    plan.read_index(args.inputs[1]);
    invert(plan);
    const IndexAddCall call = plan.call(args, plan.inverse);
    for_each_range(plan.elements(), [&](std::int64_t begin, std::int64_t end) {
      HWY_DYNAMIC_DISPATCH(select_range)(plan.dtype, call, begin, end);
    });
  };
}

std::string refuse_other_lengths(const Problem& problem) {
  if (problem.inputs[2].shape == problem.inputs[0].shape) return "";
  return "'index' is not a permutation of the axis: their lengths differ";
}

// Source: inplace_index_add.py uses an index as an address without a check.
std::string refuse_negative(const Problem& problem) {
  return problem.attrs.flag("negative_index") ? "InplaceIndexAdd takes no negative indices" : "";
}

const RegisteredKernel index_add{{
    .op = "index_add",
    .name = "index_add",
    .provider = Provider::npu,
    .summary = "InplaceIndexAdd on a copy: rows in vectors, columns over threads",
    .refusal = refuse_negative,
    .prepare = prepare_index_add,
    .temporary_bytes = IndexAddPlan::bytes,
    .device_name = "InplaceIndexAdd",
}};

const RegisteredKernel index_select{{
    .op = "index_add",
    .name = "index_select",
    .provider = Provider::npu,
    .summary = "for a permutation: one pass in output order, rows through the inverse index",
    .refusal = refuse_other_lengths,
    .prepare = prepare_index_select,
    .temporary_bytes = IndexAddPlan::bytes,
    .device_name = "GatherV2",
}};

// Adds one row of the source after the other, one element at a time.
template <class T>
void add_elements(const IndexAddCall& call, const IndexAddColumns& columns) {
  for (std::int64_t i = 0; i < call.added; ++i) {
    T* y = static_cast<T*>(call.y) + (columns.outer * call.extent + call.index[i]) * call.inner;
    const T* x = static_cast<const T*>(call.source) + (columns.outer * call.added + i) * call.inner;
    for (std::int64_t j = columns.first; j < columns.last; ++j) {
      y[j] = T(float(y[j]) + call.alpha * float(x[j]));
    }
  }
}

Launch prepare_native(const Problem& problem) {
  return [plan = IndexAddPlan(problem)](const KernelArgs& args) mutable {
    plan.read_index(args.inputs[1]);
    const IndexAddCall call = plan.call(args, plan.index);
    for_each_range(plan.elements(), [&](std::int64_t begin, std::int64_t end) {
      std::memcpy(at(args.outputs[0], plan.dtype, begin), at(args.inputs[0], plan.dtype, begin),
                  static_cast<std::size_t>(end - begin) * size_of(plan.dtype));
    });
    for_each_column_range(plan.view,
                          [&](std::int64_t outer, std::int64_t first, std::int64_t last) {
                            visit_arithmetic(plan.dtype, [&](auto tag) {
                              add_elements<decltype(tag)>(call, {outer, first, last});
                            });
                          });
  };
}

const RegisteredKernel native{{
    .op = "index_add",
    .name = "native",
    .provider = Provider::framework,
    .summary = "self copied, then row after row of the source added",
    .prepare = prepare_native,
    .temporary_bytes = IndexAddPlan::bytes,
}};

}  // namespace
}  // namespace opbench
#endif  // HWY_ONCE
