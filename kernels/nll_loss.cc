// nll_loss and its gradient: one element of every row is read or written.
#include <cstring>
#include <vector>

#include "kernels/class_rows.h"

namespace opbench {
namespace {

Launch loss(const Problem& problem) {
  return [rows = ClassRows(problem, 0)](const KernelArgs& args) {
    const float* weight = weight_of(args, 2);
    const void* target = args.inputs[1];
    double sum = 0;
    for (std::int64_t n = 0; n < rows.rows; ++n) {
      const float factor = rows.factor(target, weight, n);
      const std::int64_t c = rows.wanted(target, n);
      const float of_row =
          c == rows.ignore_index ? 0 : -factor * rows.element(args.inputs[0], rows.place(n, c));
      sum += double(of_row);
      if (rows.reduction == Reduction::none) rows.store(of_row, args.outputs[0], n);
    }
    if (rows.reduction == Reduction::none) return;
    rows.store(static_cast<float>(sum / rows.total<double>(target, weight)), args.outputs[0], 0);
  };
}

Launch gradient(const Problem& problem) {
  return [rows = ClassRows(problem, 1)](const KernelArgs& args) {
    const float* weight = weight_of(args, 3);
    const void* target = args.inputs[2];
    const auto total = static_cast<float>(rows.total<double>(target, weight));
    const std::int64_t images = rows.rows / rows.apart, image = rows.classes * rows.apart;
    parallel_ranges(images, 1, [&](std::int64_t begin, std::int64_t end) {
      std::memset(at(args.outputs[0], rows.dtype, begin * image), 0,
                  static_cast<std::size_t>((end - begin) * image) * size_of(rows.dtype));
    });
    rows.for_each([&](std::int64_t n) {
      const std::int64_t c = rows.wanted(target, n);
      if (c == rows.ignore_index) return;
      const float dy = rows.element(args.inputs[0], rows.reduction == Reduction::none ? n : 0);
      rows.store(-rows.factor(target, weight, n) * dy / total, args.outputs[0], rows.place(n, c));
    });
  };
}

const RegisteredKernel nll_loss{{
    .op = "nll_loss",
    .name = "native",
    .provider = Provider::framework,
    .summary = "row after row, added up in fp64",
    .prepare = loss,
}};

const RegisteredKernel nll_loss_grad{{
    .op = "nll_loss_grad",
    .name = "native",
    .provider = Provider::framework,
    .summary = "zeros, then an element of each row",
    .prepare = gradient,
}};

}  // namespace
}  // namespace opbench
