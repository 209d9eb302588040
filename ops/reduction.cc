#include "ops/reduction.h"

#include <fmt/format.h>

#include "ops/movement.h"
#include "tensor/error.h"

namespace opbench {

std::int64_t place_in_result(std::int64_t element, const Dims& strides, const Dims& to) {
  std::int64_t target = 0;
  for (std::size_t i = 0; i < strides.size(); ++i) {
    target += element / strides[i] * to[i];
    element %= strides[i];
  }
  return target;
}

std::vector<AttrSpec> reduce_attrs() {
  return {{"axes", std::vector<std::int64_t>(), "the axes that are reduced; empty: all"},
          {"keep_dims", false, "the axes stay, with one element each"}};
}

std::vector<bool> reduced_axes(std::string_view op, const Dims& shape, const Attrs& attrs) {
  const std::vector<std::int64_t>& axes = attrs.list("axes");
  std::vector<bool> reduced(shape.size(), axes.empty());
  for (const std::int64_t axis : axes) {
    const std::size_t i = axis_of(op, shape, axis);
    if (reduced[i]) throw Error(fmt::format("{}: axis {} is named twice", op, i));
    reduced[i] = true;
  }
  return reduced;
}

Dims reduced_shape(std::string_view op, const Dims& shape, const Attrs& attrs) {
  const std::vector<bool> reduced = reduced_axes(op, shape, attrs);
  Dims result;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (!reduced[i]) {
      result.push_back(shape[i]);
    } else if (attrs.flag("keep_dims")) {
      result.push_back(1);
    }
  }
  return result;
}

double reduced_count(std::string_view op, const Dims& shape, const Attrs& attrs) {
  const std::vector<bool> reduced = reduced_axes(op, shape, attrs);
  double count = 1;
  for (std::size_t i = 0; i < shape.size(); ++i) count *= reduced[i] ? double(shape[i]) : 1;
  return count;
}

Dims strides_in_result(const Dims& shape, const std::vector<bool>& reduced) {
  Dims strides(shape.size(), 0);
  std::int64_t stride = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (reduced[i]) continue;
    strides[i] = stride;
    stride *= shape[i];
  }
  return strides;
}

std::vector<double> joined_over(const InputReader& x, const std::vector<bool>& reduced,
                                double first,
                                const std::function<double(double joined, double x)>& join) {
  const TensorDesc& desc = x.desc();
  const Dims strides = row_major_strides(desc.shape), to = strides_in_result(desc.shape, reduced);
  std::int64_t results = 1;
  for (std::size_t i = 0; i < reduced.size(); ++i) results *= reduced[i] ? 1 : desc.shape[i];
  std::vector<double> joined(static_cast<std::size_t>(results), first);
  std::vector<double> values(static_cast<std::size_t>(largest_block(desc)));
  for (std::int64_t b = 0; b < block_count(desc); ++b) {
    const ElementRange range = block(desc, b);
    x.read(range, {values.data(), static_cast<std::size_t>(range.count)});
    for (std::int64_t i = 0; i < range.count; ++i) {
      double& target =
          joined[static_cast<std::size_t>(place_in_result(range.first + i, strides, to))];
      target = join(target, values[static_cast<std::size_t>(i)]);
    }
  }
  return joined;
}

std::vector<double> sums_over(const InputReader& x, const std::vector<bool>& reduced,
                              const std::function<double(double)>& of) {
  return joined_over(x, reduced, 0, [&of](double sum, double value) {
    return sum + (of == nullptr ? value : of(value));
  });
}

std::vector<bool> summed_axes(std::string_view op, const Dims& shape, const Dims& size) {
  bool fits = size.size() <= shape.size();
  const std::size_t added = fits ? shape.size() - size.size() : 0;
  std::vector<bool> summed(shape.size(), true);
  for (std::size_t i = added; fits && i < shape.size(); ++i) {
    const std::int64_t extent = size[i - added];
    fits = extent == 1 || extent == shape[i];
    summed[i] = extent != shape[i];
  }
  if (fits) return summed;
  throw Error(
      fmt::format("{}: size is {} and 'self' has shape {}; allowed: a size whose extents are those "
                  "of 'self' or 1, aligned at the last axis",
                  op, to_string(size), to_string(shape)));
}

double sum_of(const InputReader& x) {
  const TensorDesc& desc = x.desc();
  std::vector<double> values(static_cast<std::size_t>(largest_block(desc)));
  double sum = 0;
  for (std::int64_t i = 0; i < block_count(desc); ++i) {
    const ElementRange range = block(desc, i);
    const std::span<double> part(values.data(), static_cast<std::size_t>(range.count));
    x.read(range, part);
    double block_sum = 0;
    for (const double value : part) block_sum += value;
    sum += block_sum;
  }
  return sum;
}

Reference constant_reference(double value) {
  return [value](std::size_t, ElementRange, std::span<double> to) {
    for (double& element : to) element = value;
  };
}

std::vector<TensorDesc> infer_scalar(std::span<const TensorDesc> inputs, const Attrs&) {
  return {describe(inputs[0].dtype, {})};
}

std::vector<TensorDesc> infer_expanded(std::string_view op, std::span<const TensorDesc> inputs) {
  if (!inputs[0].shape.empty()) {
    throw Error(fmt::format("{}: input 'grad_output' must be a scalar, found shape {}", op,
                            to_string(inputs[0].shape)));
  }
  if (inputs[0].dtype != inputs[1].dtype) {
    throw Error(fmt::format("{}: inputs must have one dtype, found {} and {}", op,
                            name(inputs[0].dtype), name(inputs[1].dtype)));
  }
  return {inputs[1]};
}

Traffic expanded_traffic(const Problem& problem) {
  return {.bytes_read = double(problem.inputs[0].bytes()),
          .bytes_written = double(problem.outputs[0].bytes()),
          .operations = 1};
}

std::vector<Dims> scalar_and_tensor(const Dims& shape, const Attrs&) { return {{}, shape}; }

AttrSpec reduction_attr() {
  return {"reduction", std::string("mean"), "of the losses: mean, sum or none",
          [](const AttrValue& value) -> std::string {
            const auto& word = std::get<std::string>(value);
            const bool is_known = word == "mean" || word == "sum" || word == "none";
            return is_known ? "" : "it must be mean, sum or none";
          }};
}

Reduction reduction_of(const Attrs& attrs) {
  const std::string& word = attrs.word("reduction");
  return word == "mean" ? Reduction::mean : word == "sum" ? Reduction::sum : Reduction::none;
}

Dims reduced_loss(const Attrs& attrs, const Dims& parts) {
  return reduction_of(attrs) == Reduction::none ? parts : Dims{};
}

void require_loss_gradient(std::string_view op, const TensorDesc& grad_output, const Attrs& attrs,
                           const Dims& parts) {
  const Dims allowed = reduced_loss(attrs, parts);
  if (grad_output.shape == allowed) return;
  throw Error(fmt::format("{}: 'grad_output' has shape {}; allowed: {}", op,
                          to_string(grad_output.shape),
                          allowed.empty() ? "a scalar" : to_string(allowed)));
}

}  // namespace opbench
