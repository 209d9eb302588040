// Local response normalisation and its gradient as a framework composes them: each step is a pass
// of a small operator over memory, with a result rounded to the tensor's dtype. The sum over the
// window is an average pool of padded channels.
#include <array>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/kernel.h"
#include "ops/lrn.h"
#include "ops/movement.h"
#include "tensor/buffer.h"

namespace opbench {
namespace {

using Values = std::vector<std::pair<std::string_view, AttrValue>>;

// The native variant of a small operator.
Launch small(std::string_view op, std::vector<TensorDesc> inputs, const Values& attrs = {}) {
  const Problem problem = make_problem(find_op(op), std::move(inputs), attrs_with(op, attrs));
  return kernels_of(op).front()->prepare(problem);
}

void call(const Launch& launch, std::initializer_list<const void*> inputs, void* output) {
  launch({{inputs.begin(), inputs.size()}, {&output, 1}});
}

/// The steps on tensors of one dtype: [N, 1, C, the other axes].
struct Steps {
  Lrn of;
  TensorDesc all, padded_desc;
  Launch mul, pad, pool, scale, add_k, power, div;
  std::shared_ptr<Buffer> padded;

  Steps(const Lrn& lrn, const TensorDesc& desc, const Attrs& attrs)
      : of(lrn), all(planes(desc.dtype, 0)), padded_desc(planes(desc.dtype, of.before + of.after)) {
    const std::int64_t size = of.before + of.after + 1;
    mul = small("mul", {all, all});
    pad = small("pad", {all}, {{"pad", std::vector<std::int64_t>{0, 0, of.before, of.after}}});
    pool = small("avg_pool2d", {padded_desc}, window(size));
    scale = small("muls", {all}, {{"value", attrs.number("alpha")}});
    add_k = small("adds", {all}, {{"value", of.k}});
    power = small("pow", {all}, {{"exponent", of.beta}});
    div = small("div", {all, all});
    padded = std::make_shared<Buffer>(static_cast<std::size_t>(padded_desc.bytes()));
  }

  TensorDesc planes(DType dtype, std::int64_t more) const {
    return describe(dtype, {of.view.outer, 1, of.view.channels + more, of.view.inner},
                    Format::NCHW);
  }
  static Values window(std::int64_t size) {
    return {{"kernel_size", std::vector<std::int64_t>{size, 1}},
            {"stride", std::vector<std::int64_t>{1}}};
  }

  // s = k + alpha * the mean of the squares.
  void sums(const void* x, void* s) const {
    call(mul, {x, x}, s);
    call(pad, {s}, padded->data());
    call(pool, {padded->data()}, s);
    call(scale, {s}, s);
    call(add_k, {s}, s);
  }
};

void do_nothing(const KernelArgs&) {}

Launch prepare(const Problem& problem) {
  const TensorDesc& x = problem.inputs[0];
  if (x.elements() == 0) return do_nothing;
  return [steps = Steps(Lrn("lrn", "self", x, problem.attrs), x, problem.attrs)](
             const KernelArgs& args) {
    void* const y = args.outputs[0];
    steps.sums(args.inputs[0], y);
    call(steps.power, {y}, y);
    call(steps.div, {args.inputs[0], y}, y);
  };
}

/// Differentiation of each step, from the last to the first.
struct Backward {
  Steps steps;
  Launch power, pool, cut, add_twice;
  std::shared_ptr<Buffer> sums, temporary;

  explicit Backward(const Problem& problem)
      : steps(Lrn("lrn_grad", "self", problem.inputs[1], problem.attrs), problem.inputs[1],
              problem.attrs) {
    const Lrn& of = steps.of;
    const TensorDesc& all = steps.all;
    const Dims& padded = steps.padded_desc.shape;
    Values of_pool = Steps::window(of.before + of.after + 1);
    of_pool.emplace_back("input_size", std::vector<std::int64_t>{padded[2], padded[3]});
    power = small("pow_grad", {all, all}, {{"exponent", of.beta}});
    pool = small("avg_pool2d_grad", {all}, of_pool);
    cut = small("pad", {steps.padded_desc},
                {{"pad", std::vector<std::int64_t>{0, 0, -of.before, -of.after}}});
    add_twice = small("axpy", {all, all}, {{"alpha", -2.0}});
    const auto bytes = static_cast<std::size_t>(all.bytes());
    sums = std::make_shared<Buffer>(bytes), temporary = std::make_shared<Buffer>(bytes);
  }

  void operator()(const KernelArgs& args) const {
    const void *const dy = args.inputs[0], *const x = args.inputs[1], *const y = args.inputs[2];
    void *const dx = args.outputs[0], *const t = temporary->data();
    steps.sums(x, sums->data());
    call(steps.power, {sums->data()}, t);
    call(steps.div, {dy, t}, dx);
    call(steps.div, {y, t}, t);
    call(steps.mul, {dy, t}, t);
    call(power, {t, sums->data()}, t);
    call(steps.scale, {t}, t);
    call(pool, {t}, steps.padded->data());
    call(cut, {steps.padded->data()}, t);
    call(steps.mul, {t, x}, t);
    call(add_twice, {dx, t}, dx);
  }
};

std::size_t padded_bytes(const Problem& problem, std::string_view op, const TensorDesc& x) {
  const Lrn of(op, "self", x, problem.attrs);
  const std::int64_t channels = of.view.channels + of.before + of.after;
  return static_cast<std::size_t>(of.view.outer * channels * of.view.inner) * size_of(x.dtype);
}

const RegisteredKernel native{{
    .op = "lrn",
    .name = "native",
    .provider = Provider::framework,
    .summary = "composed of seven operators: squares, padded and pooled, times alpha, plus k, a "
               "power, a quotient",
    .prepare = prepare,
    .temporary_bytes =
        [](const Problem& problem) { return padded_bytes(problem, "lrn", problem.inputs[0]); },
}};

const RegisteredKernel native_grad{{
    .op = "lrn_grad",
    .name = "native",
    .provider = Provider::framework,
    .summary = "the sums again, then the gradient of each operator of lrn, a pass each",
    .prepare = [](const Problem& problem) -> Launch {
      if (problem.inputs[1].elements() == 0) return do_nothing;
      return Backward(problem);
    },
    .temporary_bytes =
        [](const Problem& problem) {
          return padded_bytes(problem, "lrn_grad", problem.inputs[1]) +
                 2 * static_cast<std::size_t>(problem.inputs[1].bytes());
        },
}};

}  // namespace
}  // namespace opbench
