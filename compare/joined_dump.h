#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "compare/job_layout.h"
#include "compare/shard_rules.h"
#include "dump/dump_source.h"

namespace opbench {

/// The dumps of several ranks at one step, read as the one dump that an undivided run leaves. Its
/// tensors are those of the first rank, joined with their parts on the others; what does not fit
/// together is told as the tensor's problem. Nothing is held: a range is read from the parts when
/// it is asked for.
class JoinedDump {
 public:
  /// `parts`: by the order in which they are joined. Errors: throws Error if one cannot be opened.
  JoinedDump(const std::vector<JobDump>& parts, const ShardRules& rules, const std::string& name);
  ~JoinedDump();

  /// The whole as a dump; once only. This outlives it.
  DumpSource source();

  /// A tensor that should be the same on all ranks, and the ranks that do not have the bits of the
  /// first; of what was read so far.
  struct Split {
    std::string path;
    std::vector<std::int64_t> apart;
  };
  std::vector<Split> splits() const;
  /// How many tensors should be the same.
  std::int64_t replicas() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace opbench
