// The gates and states of one step of a recurrent layer, forwards and backwards.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/recurrent_lanes.cc"
#include <hwy/foreach_target.h>

#include "kernels/recurrent.h"
#include "kernels/simd/math-inl.h"
#include "kernels/simd/rounded-inl.h"
#include "tensor/half.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {
namespace {

template <class T>
HWY_INLINE VF32 as(VF32 x) {
  return rounded_as<T>(F32(), x);
}
HWY_INLINE VF32 rest(VF32 x) { return hn::Sub(number(1), x); }

// Operators of which each rounds its result to T.
template <class T>
struct Steps {
  static HWY_INLINE VF32 add(VF32 a, VF32 b) { return as<T>(hn::Add(a, b)); }
  static HWY_INLINE VF32 sub(VF32 a, VF32 b) { return as<T>(hn::Sub(a, b)); }
  static HWY_INLINE VF32 mul(VF32 a, VF32 b) { return as<T>(hn::Mul(a, b)); }
  static HWY_INLINE VF32 sigmoid(VF32 x) { return as<T>(sigmoid_of(x)); }
  static HWY_INLINE VF32 tanh(VF32 x) { return as<T>(tanh_of(x)); }
  // The gradients of both from their results.
  static HWY_INLINE VF32 sigmoid_back(VF32 dy, VF32 y) {
    return as<T>(hn::Mul(dy, hn::Mul(rest(y), y)));
  }
  static HWY_INLINE VF32 tanh_back(VF32 dy, VF32 y) {
    return as<T>(hn::Mul(dy, hn::NegMulAdd(y, y, number(1))));
  }
};

HWY_INLINE void store_h(const RecurrentRow& row, std::int64_t j, VF32 h) {
  store<false>(h, row.next_h + j);
  if (row.narrowed_h != nullptr) store<false>(as<half>(h), row.narrowed_h + j);
}

template <class Op>
HWY_INLINE void lstm(const RecurrentRow& row, std::int64_t j) {
  const auto sum = [&](std::int64_t q) HWY_ATTR {
    return Op::add(load(row.gates + q * row.pitch + j), load(row.h_sums + q * row.pitch + j));
  };
  const VF32 i = Op::sigmoid(sum(0)), g = Op::tanh(sum(2)), o = Op::sigmoid(sum(3));
  VF32 forget = sum(1);
  if (row.forget_bias != 0) forget = Op::add(forget, number(row.forget_bias));
  const VF32 f = Op::sigmoid(forget);
  const VF32 c = Op::add(Op::mul(f, load(row.c + j)), Op::mul(i, g)), t = Op::tanh(c);
  store<false>(i, row.gates + j);
  store<false>(f, row.gates + row.pitch + j);
  store<false>(g, row.gates + 2 * row.pitch + j);
  store<false>(o, row.gates + 3 * row.pitch + j);
  store<false>(c, row.next_c + j);
  store<false>(t, row.tanh_c + j);
  store_h(row, j, Op::mul(o, t));
}

template <class Op>
HWY_INLINE void gru(const RecurrentRow& row, std::int64_t j) {
  float* const n_at = row.gates + 2 * row.pitch + j;
  const VF32 r = Op::sigmoid(Op::add(load(row.gates + j), load(row.h_sums + j)));
  const VF32 z =
      Op::sigmoid(Op::add(load(row.gates + row.pitch + j), load(row.h_sums + row.pitch + j)));
  const VF32 n = Op::tanh(Op::add(load(n_at), Op::mul(r, load(row.h_sums + 2 * row.pitch + j))));
  store<false>(r, row.gates + j);
  store<false>(z, row.gates + row.pitch + j);
  store<false>(n, n_at);
  const VF32 h = Op::add(Op::mul(Op::sub(load(row.h + j), n), z), n);
  store_h(row, j, h);
}

template <class Op>
HWY_INLINE void lstm_back(const RecurrentRowBack& row, std::int64_t j) {
  const auto gate = [&](std::int64_t q) HWY_ATTR { return row.gates + q * row.pitch + j; };
  const VF32 i = load(gate(0)), f = load(gate(1)), g = load(gate(2)), o = load(gate(3));
  const VF32 dh = load(row.dh + j), t = load(row.tanh_c + j);
  const VF32 dc = Op::add(load(row.dc + j), Op::tanh_back(Op::mul(dh, o), t));
  store<false>(Op::sigmoid_back(Op::mul(dc, g), i), gate(0));
  store<false>(Op::sigmoid_back(Op::mul(dc, load(row.c + j)), f), gate(1));
  store<false>(Op::tanh_back(Op::mul(dc, i), g), gate(2));
  store<false>(Op::sigmoid_back(Op::mul(dh, t), o), gate(3));
  store<false>(Op::mul(dc, f), row.dc + j);
  store<false>(number(0), row.dh + j);
}

template <class Op>
HWY_INLINE void gru_back(const RecurrentRowBack& row, std::int64_t j) {
  float* const x[] = {row.gates + j, row.gates + row.pitch + j, row.gates + 2 * row.pitch + j};
  float* const h[] = {row.h_sums + j, row.h_sums + row.pitch + j, row.h_sums + 2 * row.pitch + j};
  const VF32 r = load(x[0]), z = load(x[1]), n = load(x[2]), dh = load(row.dh + j);
  const VF32 direct = Op::mul(dh, z), dn = Op::tanh_back(Op::sub(dh, direct), n);
  const VF32 dr = Op::sigmoid_back(Op::mul(dn, load(h[2])), r);
  const VF32 dz = Op::sigmoid_back(Op::mul(dh, Op::sub(load(row.h + j), n)), z);
  for (float* const* const to : {x, h}) {
    store<false>(dr, to[0]);
    store<false>(dz, to[1]);
  }
  store<false>(dn, x[2]);
  store<false>(Op::mul(dn, r), h[2]);
  store<false>(direct, row.dh + j);
}

}  // namespace

void row_forward(const RecurrentRow& row) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(F32()));
  visit_arithmetic(row.rounding, [&](auto steps) {
    using Op = Steps<decltype(steps)>;
    for (std::int64_t j = 0; j < row.units; j += lanes) {
      row.kind == RecurrentKind::lstm ? lstm<Op>(row, j) : gru<Op>(row, j);
    }
  });
}

void row_backward(const RecurrentRowBack& row) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(F32()));
  visit_arithmetic(row.rounding, [&](auto steps) {
    using Op = Steps<decltype(steps)>;
    for (std::int64_t j = 0; j < row.units; j += lanes) {
      row.kind == RecurrentKind::lstm ? lstm_back<Op>(row, j) : gru_back<Op>(row, j);
    }
  });
}

void add_lanes(DType dtype, std::int64_t count, const float* a, const float* b, float* to) {
  visit_arithmetic(dtype, [&](auto tag) {
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(F32()));
    for (std::int64_t j = 0; j < count; j += lanes) {
      store<false>(Steps<decltype(tag)>::add(load(a + j), load(b + j)), to + j);
    }
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opbench {

HWY_EXPORT(row_forward);
HWY_EXPORT(row_backward);
HWY_EXPORT(add_lanes);

void recurrent_row(const RecurrentRow& row) { HWY_DYNAMIC_DISPATCH(row_forward)(row); }
void recurrent_row_back(const RecurrentRowBack& row) { HWY_DYNAMIC_DISPATCH(row_backward)(row); }
void add_rounded(DType dtype, std::int64_t count, const float* a, const float* b, float* to) {
  HWY_DYNAMIC_DISPATCH(add_lanes)(dtype, count, a, b, to);
}

}  // namespace opbench
#endif  // HWY_ONCE
