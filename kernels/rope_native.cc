// Rotary position embedding as a composition of small operators: each product and the sum are
// rounded to the dtype.
#include <vector>

#include "kernels/rope.h"
#include "kernels/simd/elementwise.h"
#include "tensor/half.h"

namespace opbench {
namespace {

template <class T>
T product(T a, T b) {
  return T(float(a) * float(b));
}

std::vector<RotaryPlace> places_of(const RotaryLines& lines) {
  return rotary_places(lines.mode, static_cast<std::size_t>(lines.extent));
}

Launch forward(const Problem& problem) {
  const RotaryLines of(problem);
  return [of, places = places_of(of)](const KernelArgs& args) {
    of.for_each([&](std::int64_t i) { rotate_line_in_steps(of.line(args, i), places); });
  };
}

struct Gradient {
  RotaryLines of;
  std::vector<RotaryPlace> places;
  SharedAngles shared;
  bool has_x;

  explicit Gradient(const Problem& problem)
      : of(problem), places(places_of(of)), shared(of), has_x(problem.inputs.size() > 3) {}

  template <class T>
  void back(const RotaryLine& line) const {
    const auto *const dy = static_cast<const T*>(line.x),
                      *const cos = static_cast<const T*>(line.cos),
                      *const sin = static_cast<const T*>(line.sin);
    auto* const dx = static_cast<T*>(line.y);
    for (std::size_t e = 0; e < places.size(); ++e) dx[places[e].kept] = product(dy[e], cos[e]);
    for (std::size_t e = 0; e < places.size(); ++e) {
      T& sum = dx[places[e].turned];
      sum = T(float(sum) + static_cast<float>(places[e].sign) * float(product(dy[e], sin[e])));
    }
  }

  // Sums of rounded products.
  template <class T>
  void angle(const KernelArgs& args, std::int64_t angle) const {
    thread_local std::vector<double> cos, sin;
    cos.assign(places.size(), 0);
    sin.assign(places.size(), 0);
    for (const std::int64_t i : shared.of(angle)) {
      const T* const dy = static_cast<const T*>(args.inputs[0]) + i * of.extent;
      const T* const x = static_cast<const T*>(args.inputs[3]) + i * of.extent;
      for (std::size_t e = 0; e < places.size(); ++e) {
        cos[e] += double(float(product(dy[e], x[places[e].kept])));
        sin[e] += places[e].sign * double(float(product(dy[e], x[places[e].turned])));
      }
    }
    T* const dcos = static_cast<T*>(args.outputs[1]) + angle * of.extent;
    T* const dsin = static_cast<T*>(args.outputs[2]) + angle * of.extent;
    for (std::size_t e = 0; e < places.size(); ++e) {
      dcos[e] = T(static_cast<float>(cos[e]));
      dsin[e] = T(static_cast<float>(sin[e]));
    }
  }

  void operator()(const KernelArgs& args) const {
    visit_arithmetic(of.dtype, [&](auto tag) {
      using T = decltype(tag);
      of.for_each([&](std::int64_t i) { back<T>(of.line(args, i)); });
      if (has_x) parallel_blocks(of.angles, [&](std::int64_t i) { angle<T>(args, i); });
    });
  }
};

const RegisteredKernel native{{
    .op = "rope",
    .name = "native",
    .provider = Provider::framework,
    .summary = "x*cos, the turned x times sin, and their sum, each rounded, line by line",
    .prepare = forward,
}};

const RegisteredKernel native_grad{{
    .op = "rope_grad",
    .name = "native",
    .provider = Provider::framework,
    .summary = "dy*cos, dy*sin turned back, and their sum, each rounded; then sums of rounded "
               "products for each angle",
    .prepare = [](const Problem& problem) -> Launch { return Gradient(problem); },
}};

}  // namespace

void rotate_line_in_steps(const RotaryLine& line, std::span<const RotaryPlace> places) {
  visit_arithmetic(line.dtype, [&](auto tag) {
    using T = decltype(tag);
    const auto *const x = static_cast<const T*>(line.x),
                      *const cos = static_cast<const T*>(line.cos),
                      *const sin = static_cast<const T*>(line.sin);
    auto* const y = static_cast<T*>(line.y);
    for (std::size_t e = 0; e < places.size(); ++e) {
      const auto [kept, turned, sign] = places[e];
      const T across = product(x[turned], sin[e]);
      y[e] = T(float(product(x[kept], cos[e])) + static_cast<float>(sign) * float(across));
    }
  });
}

}  // namespace opbench
