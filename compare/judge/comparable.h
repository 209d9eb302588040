#pragma once

#include <string>
#include <vector>

#include "compare/match/matching.h"
#include "tensor/dtype.h"

namespace opbench {

/// What messages call the two dumps, such as their files' names.
struct SideNames {
  std::string actual = "the actual dump", expected = "the expected dump";
};

/// Why a match has no numbers: one side is missing or cannot be read, the numbers of elements
/// differ, a dtype is not supported. Empty if it can be measured.
std::string why_not_compared(const TensorMatch& match, const SideNames& sides = {});

/// Is one of both tensors there, and could not be read? Elements of a kind that is not supported
/// are no fault of the file.
bool is_unread(const TensorMatch& match);

/// What a reader of the numbers should know of a pair that is compared: shapes or dtypes that
/// differ, and what is doubtful about either side.
std::vector<std::string> pair_warnings(const TensorMatch& match, const SideNames& sides = {});

/// The dtype whose standard a pair is held to: the coarser of both.
DType judged_dtype(const TensorMatch& match);

/// The shape by which places in a pair are named: that of the actual tensor, or of the expected one
/// where there is no other.
const Dims& judged_shape(const TensorMatch& match);

}  // namespace opbench
