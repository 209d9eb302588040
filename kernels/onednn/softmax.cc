// oneDNN's softmax and logsoftmax as variants of softmax, log_softmax and their gradients.
#include "kernels/onednn/primitive.h"
#include "ops/movement.h"

namespace opbench {
namespace {

// Both primitives are described by their tensors and an axis.
template <class Primitive>
auto forward_desc(const Problem& problem, const dnnl::memory::desc& memory) {
  const std::size_t axis =
      axis_of(problem.op->name, problem.inputs[0].shape, problem.attrs.integer("dim"));
  return typename Primitive::primitive_desc(
      {dnnl::prop_kind::forward_training, memory, static_cast<int>(axis)}, onednn::engine());
}

template <class Primitive>
Launch forward(const Problem& problem) {
  onednn::match_threads();
  const auto memory = onednn::axes_desc(problem.inputs[0]);
  return onednn::launch({{Primitive(forward_desc<Primitive>(problem, memory)),
                          {{DNNL_ARG_SRC, memory, 0}},
                          {{DNNL_ARG_DST, memory, 0}}}});
}

template <class Forward, class Primitive>
Launch backward(const Problem& problem) {
  onednn::match_threads();
  const auto memory = onednn::axes_desc(problem.inputs[0]);
  const std::size_t axis =
      axis_of(problem.op->name, problem.inputs[0].shape, problem.attrs.integer("dim"));
  const typename Primitive::primitive_desc desc({memory, memory, static_cast<int>(axis)},
                                                onednn::engine(),
                                                forward_desc<Forward>(problem, memory));
  return onednn::launch({{Primitive(desc),
                          {{DNNL_ARG_DIFF_DST, memory, 0}, {DNNL_ARG_DST, memory, 1}},
                          {{DNNL_ARG_DIFF_SRC, memory, 0}}}});
}

std::string refuse(const Problem& problem) { return onednn::refusal(problem.inputs[0]); }

// The result for a single share must be 0; oneDNN's has an error of 1.4e-6.
std::string refuse_single(const Problem& problem) {
  const Dims& shape = problem.inputs[0].shape;
  const std::size_t axis = axis_of(problem.op->name, shape, problem.attrs.integer("dim"));
  return shape[axis] == 1 ? "oneDNN is used for axes of 2 elements or more" : refuse(problem);
}

template <Launch (*kPrepare)(const Problem& problem)>
Kernel peer(std::string_view op, std::string_view summary,
            std::string (*refusal)(const Problem& problem) = refuse) {
  return {.op = op,
          .name = "onednn",
          .provider = Provider::vendor,
          .summary = summary,
          .refusal = refusal,
          .prepare = kPrepare,
          .note = onednn::note_of<kPrepare>};
}

using dnnl::logsoftmax_backward;
using dnnl::logsoftmax_forward;
using dnnl::softmax_backward;
using dnnl::softmax_forward;

const RegisteredKernel kKernels[] = {
    RegisteredKernel(peer<forward<softmax_forward>>("softmax", "oneDNN softmax")),
    RegisteredKernel(peer<backward<softmax_forward, softmax_backward>>("softmax_grad",
                                                                       "oneDNN softmax, backward")),
    RegisteredKernel(
        peer<forward<logsoftmax_forward>>("log_softmax", "oneDNN logsoftmax", refuse_single)),
    RegisteredKernel(peer<backward<logsoftmax_forward, logsoftmax_backward>>(
        "log_softmax_grad", "oneDNN logsoftmax, backward")),
};

}  // namespace
}  // namespace opbench
