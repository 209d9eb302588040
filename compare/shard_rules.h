#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "dump/dump_types.h"

namespace opbench {

/// How the parts of a tensor that ranks hold make the whole one.
struct Join {
  enum class Kind {
    same,    ///< every rank has all of it, bit for bit
    concat,  ///< one after the other along `axis`, in the order of the ranks
    sum,     ///< the sum of all, in fp64
    mean,    ///< the sum over the number of ranks
  };
  Kind kind = Kind::same;
  int axis = 0;  ///< counted from the end where it is negative

  bool operator==(const Join&) const = default;
};

/// What a file of rules says:
///
///   ranks: [0, 1, 2, 3]     # whose parts make a whole, in their order; all if left out
///   rules:                  # the first whose `tensors` is found in a tensor's path counts
///     - {tensors: 'qkv', join: column}
///     - {tensors: 'embedding/.*weight', join: concat, axis: 0}
///     - {tensors: 'loss', join: mean}
///
/// Tensors that no rule names are the same on all ranks. `column` and `row` are linear layers: of
/// `column` the weight and the bias are cut along axis 0 and the output along the last one, of
/// `row` the weight along axis 1 and the input along the last one, and the outputs are parts of a
/// sum.
struct ShardRules {
  std::vector<std::int64_t> ranks;  ///< empty: all
  struct Rule {
    std::function<bool(std::string_view)> tensors;
    enum class Form { join, column, row } form = Form::join;
    Join join;
  };
  std::vector<Rule> rules;

  /// By path, side and name of a tensor.
  Join join_of(const DumpEntry& entry) const;
};

/// Errors: throws Error "file:line: ..." with what was found and what is allowed.
ShardRules parse_shard_rules(const std::string& text, const std::string& path);
ShardRules load_shard_rules(const std::string& path);

}  // namespace opbench
