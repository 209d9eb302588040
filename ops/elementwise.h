#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "ops/op.h"

namespace opbench {

/// The dtype to which PyTorch promotes two floating dtypes: the wider one, fp32 for fp16 and bf16.
DType promoted(DType a, DType b);

/// The promoted dtype of all inputs, for an operator without own dtypes.
DType promoted(std::span<const TensorDesc> inputs);

/// True if inputs that follow the case's dtype have different ones.
bool has_mixed_dtypes(const Op& op, std::span<const TensorDesc> inputs);

inline const std::vector<DType> kArithmeticDTypes = {DType::fp32, DType::fp16, DType::bf16};
inline const std::vector<Format> kPlainAnd5hd = {Format::NCHW, Format::ND, Format::NCDHW,
                                                 Format::NC1HWC0};
/// Formats of operators that compute on the storage directly, including those of weights.
inline const std::vector<Format> kElementwiseFormats = {Format::NCHW,      Format::ND,
                                                        Format::NCDHW,     Format::NC1HWC0,
                                                        Format::FRACTAL_Z, Format::FRACTAL_NZ};

/// Shape rule of element-wise operators: all inputs alike (dtype, shape, storage), the output like
/// them. Errors: throws Error that names the two inputs that differ.
std::vector<TensorDesc> infer_elementwise(std::string_view op_name,
                                          std::span<const TensorDesc> inputs);

/// Every input is read once and every output is written once; `operations` per element.
Traffic elementwise_traffic(const Problem& problem, double operations_per_element);

/// The reference of an element-wise operator, from a function of one element of each input.
template <class Function>
Reference unary_reference(const InputReader& x, Function function) {
  return [x, function](std::size_t, ElementRange range, std::span<double> to) {
    x.read(range, to);
    for (double& value : to) value = function(value);
  };
}

template <class Function>
Reference binary_reference(const InputReader& a, const InputReader& b, Function function) {
  return [a, b, function](std::size_t, ElementRange range, std::span<double> to) {
    thread_local std::vector<double> second;
    second.resize(to.size());
    a.read(range, to);
    b.read(range, second);
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = function(to[i], second[i]);
  };
}

}  // namespace opbench
