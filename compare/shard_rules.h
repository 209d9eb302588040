#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "dump/dump_types.h"

namespace opbench {

/// The rule for joining the parts of a tensor on all ranks.
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

/// The contents of a file of rules:
///
///   ranks: [0, 1, 2, 3]     # ranks with parts, in the order of joining; default: all
///   rules:                  # the first rule whose `tensors` is found in a tensor's path applies
///     - {tensors: 'qkv', join: column}
///     - {tensors: 'embedding/.*weight', join: concat, axis: 0}
///     - {tensors: 'loss', join: mean}
///
/// Tensors without a rule are the same on all ranks. `column` and `row` are linear layers. `column`
/// splits the weight and the bias along axis 0, and the output along the last axis. `row` splits
/// the weight along axis 1 and the input along the last axis; its outputs are parts of a sum.
struct ShardRules {
  std::vector<std::int64_t> ranks;  ///< empty: all
  struct Rule {
    std::function<bool(std::string_view)> tensors;
    enum class Form { join, column, row } form = Form::join;
    Join join;
  };
  std::vector<Rule> rules;

  /// Uses path, side and name of a tensor.
  Join join_of(const DumpEntry& entry) const;
};

/// Errors: throws Error "file:line: ..." with the found and the allowed values.
ShardRules parse_shard_rules(const std::string& text, const std::string& path);
ShardRules load_shard_rules(const std::string& path);

}  // namespace opbench
