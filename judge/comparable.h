#pragma once

#include <string>
#include <vector>

#include "dump/dump_types.h"
#include "tensor/dtype.h"

namespace opbench {

/// A tensor of the one dump and its partner in the other; one of them may be missing.
struct TensorMatch {
  const DumpEntry* actual = nullptr;
  const DumpEntry* expected = nullptr;
};

/// What messages call the two dumps, such as their files' names.
struct SideNames {
  std::string actual = "the actual dump", expected = "the expected dump";
};

/// Why a pair has no numbers.
struct Obstacle {
  enum class Kind {
    none,         ///< it can be measured
    missing,      ///< one side is not there
    unsupported,  ///< elements of a kind that is not compared, which is no fault of the file
    unread,       ///< one side is there and could not be read
    counts,       ///< the numbers of elements differ
  };
  Kind kind = Kind::none;
  std::string reason;  ///< empty if there is none

  bool is_unread() const { return kind == Kind::unread; }
};

/// What keeps a match from being measured; of two tensors that cannot be, one that is unread counts
/// before one that is not supported.
Obstacle obstacle(const TensorMatch& match, const SideNames& sides = {});

/// What a reader of the numbers should know of a pair: shapes or dtypes that differ, and what is
/// doubtful about either side. Of what cannot be read nothing is said.
std::vector<std::string> pair_warnings(const TensorMatch& match, const SideNames& sides = {});

/// The dtype whose standard a pair is held to: the coarser of both.
DType judged_dtype(const TensorMatch& match);

/// The shape by which places in a pair are named: that of the actual tensor, or of the expected one
/// where there is no other.
const Dims& judged_shape(const TensorMatch& match);

}  // namespace opbench
