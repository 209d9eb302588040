#pragma once

#include <string>
#include <vector>

#include "dump/dump_types.h"
#include "tensor/dtype.h"

namespace opbench {

/// A tensor of one dump and its partner in the other; either may be missing.
struct TensorMatch {
  const DumpEntry* actual = nullptr;
  const DumpEntry* expected = nullptr;
};

/// Names of the two dumps in messages, such as their files' names.
struct SideNames {
  std::string actual = "the actual dump", expected = "the expected dump";
};

/// The reason why a pair has no numbers.
struct Obstacle {
  enum class Kind {
    none,         ///< it can be measured
    missing,      ///< one side is not there
    unsupported,  ///< elements of a kind that is not compared; the file is right
    unread,       ///< one side is there and could not be read
    counts,       ///< the numbers of elements differ
  };
  Kind kind = Kind::none;
  std::string reason;  ///< empty if the pair is comparable

  bool is_unread() const { return kind == Kind::unread; }
};

/// The obstacle to measuring a match. If both tensors have an obstacle, unread takes precedence
/// over unsupported.
Obstacle obstacle(const TensorMatch& match, const SideNames& sides = {});

/// Warnings for a reader of the numbers: shapes or dtypes that differ, and doubts about either
/// side. Tensors that cannot be read get no warnings.
std::vector<std::string> pair_warnings(const TensorMatch& match, const SideNames& sides = {});

/// The dtype whose standard applies to a pair: the coarser of both.
DType judged_dtype(const TensorMatch& match);

/// The shape that names places in a pair: that of the actual tensor, or of the expected tensor if
/// there is no actual one.
const Dims& judged_shape(const TensorMatch& match);

}  // namespace opbench
