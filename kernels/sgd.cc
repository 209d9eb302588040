// The update of a model's parameters: tensor by tensor in small operators, or all tensors at once.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/sgd.cc"
#include "kernels/sgd.h"

#include <hwy/foreach_target.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "kernels/arithmetic.h"
#include "kernels/simd/elementwise.h"
#include "kernels/simd/simd-inl.h"
#include "tensor/buffer.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {
namespace {

struct Updated {
  VF32 parameter, accum;
};

// The attributes are the same for all lanes, so the branches cost nothing compared with the memory
// accesses. Products and sums are rounded separately: the same bits with and without fused
// instructions.
HWY_INLINE Updated update(const SgdAttrs& a, VF32 p, VF32 g, VF32 accum) {
  const F32 d;
  if (a.weight_decay != 0) g = hn::Add(g, hn::Mul(p, hn::Set(d, a.weight_decay)));
  VF32 step = g;
  if (a.momentum != 0) {
    const VF32 momentum = hn::Set(d, a.momentum);
    accum = a.first_step ? g : hn::Add(hn::Mul(accum, momentum), hn::Mul(g, hn::Set(d, a.share)));
    step = a.nesterov ? hn::Add(g, hn::Mul(accum, momentum)) : accum;
  }
  return {hn::Sub(p, hn::Mul(step, hn::Set(d, a.lr))), accum};
}

template <bool kStream, class T>
HWY_INLINE void update_at(const SgdAttrs& a, std::size_t i, const SgdBuffers<T>& m) {
  const VF32 accum = a.first_step ? hn::Zero(F32()) : load(m.accum + i);
  const Updated updated = update(a, load(m.p + i), load(m.g + i), accum);
  store<kStream>(updated.parameter, m.new_p + i);
  store<kStream>(updated.accum, m.new_accum + i);
}

// Prefetches every line of the inputs, because the hardware prefetcher does not follow five streams
// well. A quarter faster than a prefetch of every fourth line.
template <class T>
HWY_INLINE void prefetch(const SgdAttrs& a, std::size_t i, const SgdBuffers<T>& m) {
  for (const T* input : {m.p, m.g, m.accum}) {
    if (a.first_step && input == m.accum) continue;
    hwy::Prefetch(reinterpret_cast<const char*>(input + i) + kPrefetchBytes);
  }
}

// The last elements, less than a vector, use separate vectors.
template <class T>
void update_rest(const SgdAttrs& a, std::size_t i, std::size_t count, const SgdBuffers<T>& m) {
  HWY_ALIGN T p[hn::MaxLanes(F32())] = {}, g[hn::MaxLanes(F32())] = {};
  HWY_ALIGN T accum[hn::MaxLanes(F32())] = {};
  const std::size_t bytes = (count - i) * sizeof(T);
  std::memcpy(p, m.p + i, bytes);
  std::memcpy(g, m.g + i, bytes);
  std::memcpy(accum, m.accum + i, bytes);
  update_at<false>(a, 0, SgdBuffers<T>{p, g, accum, p, accum});
  std::memcpy(m.new_p + i, p, bytes);
  std::memcpy(m.new_accum + i, accum, bytes);
}

template <bool kStream, class T>
void update_all(const SgdAttrs& a, std::size_t count, const SgdBuffers<T>& m) {
  const std::size_t lanes = hn::Lanes(F32());
  constexpr std::size_t kUnroll = 4;
  std::size_t i = 0;
  for (; i + kUnroll * lanes <= count; i += kUnroll * lanes) {
    for (std::size_t k = 0; k < kUnroll; ++k) {
      const std::size_t at = i + k * lanes;
      prefetch(a, at, m);
      update_at<kStream>(a, at, m);
    }
  }
  for (; i + lanes <= count; i += lanes) update_at<false>(a, i, m);
  if (i < count) update_rest(a, i, count, m);
  if (kStream) hwy::FlushStream();
}

template <class T>
void sgd_of(const SgdAttrs& a, bool stream, std::size_t count, const SgdBuffers<void>& m) {
  const SgdBuffers<T> typed{static_cast<const T*>(m.p), static_cast<const T*>(m.g),
                            static_cast<const T*>(m.accum), static_cast<T*>(m.new_p),
                            static_cast<T*>(m.new_accum)};
  if (stream) return update_all<true>(a, count, typed);
  update_all<false>(a, count, typed);
}

}  // namespace

void sgd(DType dtype, const SgdAttrs& attrs, bool stream, std::size_t count,
         const SgdBuffers<void>& memory) {
  if (dtype == DType::fp16) return sgd_of<half>(attrs, stream, count, memory);
  sgd_of<float>(attrs, stream, count, memory);
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opbench {
namespace {

HWY_EXPORT(sgd);

SgdAttrs attrs_of(const Problem& problem) {
  const auto number = [&](const char* name) {
    return static_cast<float>(problem.attrs.number(name));
  };
  return {number("lr"),
          number("momentum"),
          static_cast<float>(1 - problem.attrs.number("dampening")),
          number("weight_decay"),
          problem.attrs.flag("nesterov"),
          problem.attrs.flag("first_step")};
}

// All buffers from `element` on.
SgdBuffers<void> buffers_at(const KernelArgs& args, DType dtype, std::int64_t element) {
  return {at(args.inputs[0], dtype, element), at(args.inputs[1], dtype, element),
          at(args.inputs[2], dtype, element), at(args.outputs[0], dtype, element),
          at(args.outputs[1], dtype, element)};
}

Launch prepare_fused(const Problem& problem) {
  return [dtype = problem.inputs[0].dtype, attrs = attrs_of(problem),
          stream = outgrows_cache(problem),
          elements = stored_elements(problem)](const KernelArgs& args) {
    for_each_range(elements, [&](std::int64_t begin, std::int64_t end) {
      HWY_DYNAMIC_DISPATCH(sgd)
      (dtype, attrs, stream, static_cast<std::size_t>(end - begin), buffers_at(args, dtype, begin));
    });
  };
}

// One tensor, in the steps of an optimizer's loop.
struct Composed {
  DType dtype;
  SgdAttrs attrs;
  std::shared_ptr<Buffer> decayed, scaled;  // as large as the largest tensor

  void operator()(std::int64_t count, const SgdBuffers<void>& m) const {
    const void* g = m.g;
    if (attrs.weight_decay != 0) {
      pass_muls(dtype, count, m.p, attrs.weight_decay, decayed->data());
      pass_add(dtype, count, decayed->data(), g, decayed->data());
      g = decayed->data();
    }
    const void* step = momentum_step(count, g, m);
    pass_muls(dtype, count, step, -attrs.lr, scaled->data());
    pass_add(dtype, count, m.p, scaled->data(), m.new_p);
  }

  void move_accum_on(std::int64_t count, const void* g, const SgdBuffers<void>& m) const {
    if (attrs.first_step) return pass_muls(dtype, count, g, 1, m.new_accum);  // a copy
    pass_muls(dtype, count, m.accum, attrs.momentum, m.new_accum);
    const void* taken = g;
    if (attrs.share != 1) {
      pass_muls(dtype, count, g, attrs.share, scaled->data());
      taken = scaled->data();
    }
    pass_add(dtype, count, m.new_accum, taken, m.new_accum);
  }

  // The factor of the learning rate, after the update of accum.
  const void* momentum_step(std::int64_t count, const void* g, const SgdBuffers<void>& m) const {
    if (attrs.momentum == 0) {
      pass_muls(dtype, count, m.accum, 1, m.new_accum);  // a copy
      return g;
    }
    move_accum_on(count, g, m);
    if (!attrs.nesterov) return m.new_accum;
    pass_muls(dtype, count, m.new_accum, attrs.momentum, scaled->data());
    pass_add(dtype, count, g, scaled->data(), scaled->data());
    return scaled->data();
  }
};

std::vector<std::int64_t> sizes_of(const Problem& problem) {
  const std::vector<std::int64_t>& sizes = problem.attrs.list("sizes");
  return sizes.empty() ? std::vector<std::int64_t>{problem.inputs[0].elements()} : sizes;
}

std::size_t largest_bytes(const Problem& problem) {
  const std::vector<std::int64_t> sizes = sizes_of(problem);
  return static_cast<std::size_t>(*std::max_element(sizes.begin(), sizes.end())) *
         size_of(problem.inputs[0].dtype);
}

Launch prepare_native(const Problem& problem) {
  const auto temporary = [&] { return std::make_shared<Buffer>(largest_bytes(problem)); };
  return [update = Composed{problem.inputs[0].dtype, attrs_of(problem), temporary(), temporary()},
          sizes = sizes_of(problem)](const KernelArgs& args) {
    std::int64_t begin = 0;
    for (const std::int64_t count : sizes) {
      update(count, buffers_at(args, update.dtype, begin));
      begin += count;
    }
  };
}

const RegisteredKernel native{{
    .op = "sgd",
    .name = "native",
    .provider = Provider::framework,
    .summary = "tensor by tensor, each composed of small operators, a pass over memory each",
    .prepare = prepare_native,
    .temporary_bytes = [](const Problem& problem) { return 2 * largest_bytes(problem); },
}};

const RegisteredKernel fused{{
    .op = "sgd",
    .name = "fused",
    .provider = Provider::npu,
    .summary = "NpuFusedSGD: all tensors as one buffer, one pass, streamed past the cache",
    .prepare = prepare_fused,
}};

}  // namespace
}  // namespace opbench
#endif  // HWY_ONCE
