#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/lanes/conv2d_filter.cc"
#include "kernels/lanes/conv2d_filter.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <utility>

#include "kernels/lanes/cube.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// As many of the 16 lanes as a vector holds.
using D = hn::CappedTag<float, kCube>;
using V = hn::Vec<D>;

// Sums of so many terms are in flight.
constexpr std::size_t kMostTerms = 12;

template <std::size_t... i, class... Sums>
HWY_INLINE void add_terms(const float* dy, std::int64_t count, const DepthwiseTerm* terms,
                          std::index_sequence<i...>, Sums... sums) {
  const D d;
  const float* const x[] = {terms[i].x...};
  ((sums = hn::LoadU(d, terms[i].sums)), ...);
  for (std::int64_t place = 0; place < count * kCube; place += kCube) {
    const V gradient = hn::LoadU(d, dy + place);
    ((sums = hn::MulAdd(hn::LoadU(d, x[i] + place), gradient, sums)), ...);
  }
  (hn::StoreU(sums, d, terms[i].sums), ...);
}

template <std::size_t... i>
HWY_INLINE void start_terms(const float* dy, std::int64_t count, const DepthwiseTerm* terms,
                            std::index_sequence<i...> order) {
  add_terms(dy, count, terms, order, (static_cast<void>(i), hn::Zero(D()))...);
}

template <std::size_t kTerms>
void terms_of(const float* dy, std::int64_t count, const DepthwiseTerm* terms) {
  start_terms(dy, count, terms, std::make_index_sequence<kTerms>());
}

using Terms = void (*)(const float* dy, std::int64_t count, const DepthwiseTerm* terms);

template <std::size_t... i>
Terms terms_for(std::size_t terms, std::index_sequence<i...>) {
  static constexpr Terms kTerms[] = {terms_of<i + 1>...};
  return kTerms[terms - 1];
}

}  // namespace

void add_all_terms(const float* dy, std::int64_t count, std::span<const DepthwiseTerm> terms) {
  const std::size_t lanes = hn::Lanes(D()), groups = (terms.size() + kMostTerms - 1) / kMostTerms;
  for (std::size_t lane = 0; lane < kCube; lane += lanes) {
    for (std::size_t group = 0, begin = 0; group < groups; ++group) {
      const std::size_t end = terms.size() * (group + 1) / groups;
      DepthwiseTerm of_lane[kMostTerms];
      for (std::size_t i = begin; i < end; ++i) {
        of_lane[i - begin] = {terms[i].x + lane, terms[i].sums + lane};
      }
      terms_for(end - begin, std::make_index_sequence<kMostTerms>())(dy + lane, count, of_lane);
      begin = end;
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opbench {

HWY_EXPORT(add_all_terms);

void add_depthwise_terms(const float* dy, std::int64_t count,
                         std::span<const DepthwiseTerm> terms) {
  HWY_DYNAMIC_DISPATCH(add_all_terms)(dy, count, terms);
}

}  // namespace opbench
#endif  // HWY_ONCE
