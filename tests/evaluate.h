#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/kernel.h"
#include "ops/op.h"

namespace opbench {

using AttrTexts = std::map<std::string, std::string>;

/// An operator's attributes, with those of `texts` set.
Attrs attrs_of(const Op& op, const AttrTexts& texts);

/// A use of an operator on inputs of these shapes.
Problem problem_with(const Op& op, const std::vector<Dims>& shapes, const AttrTexts& attrs = {},
                     DType dtype = DType::int32, Format format = Format::NCHW);

/// A use of an operator as --shapes would make it: a tensor of 4x16x6x6 (or fewer axes, or 2 more)
/// and the default attributes. Errors: throws Error if the operator takes no such shape.
Problem example_problem(const Op& op, DType dtype, Format format);

/// Reference values of an operator of either kind, as fp64.
Reference reference_of(const Op& op, std::span<const InputReader> inputs, const Attrs& attrs);

/// The reference of an operator on one-dimensional inputs of `dtype`, as fp64. An input of one
/// element is a scalar if `scalar_first` is set.
std::vector<double> reference_values(std::string_view op, DType dtype,
                                     const std::vector<std::vector<double>>& inputs,
                                     const AttrTexts& attrs = {}, bool scalar_first = false);

/// The values that a variant computes for these inputs.
std::vector<double> kernel_values(std::string_view op, std::string_view variant, DType dtype,
                                  const std::vector<std::vector<double>>& inputs,
                                  const AttrTexts& attrs = {}, bool scalar_first = false);

using MovedNumbers = std::vector<std::vector<std::int32_t>>;

/// The outputs of an exact operator's reference on int32 tensors of these shapes. The first tensor
/// holds 0, 1, 2, ..., the second 100, 101, ..., and so on. An index holds the numbers of `index`.
MovedNumbers moved_numbers(std::string_view op, const std::vector<Dims>& shapes,
                           const AttrTexts& attrs = {},
                           const std::vector<std::int64_t>& index = {});

const Kernel& find_kernel(std::string_view op, std::string_view variant);

/// Runs a variant on tensors and checks the guard zones.
void run_kernel(const Kernel& kernel, const Problem& problem,
                const std::vector<const Tensor*>& inputs, const std::vector<Tensor*>& outputs,
                int threads = 1);

}  // namespace opbench
