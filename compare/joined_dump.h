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

/// The dumps of several ranks at one step, read as a single dump of an undivided run. Its tensors
/// are those of the first rank, joined with their parts on the others. Parts that cannot be joined
/// are reported as the tensor's problem. Nothing is stored: a range is read from the parts on
/// request.
class JoinedDump {
 public:
  /// `parts` must be in the order of joining. Errors: throws Error if a dump cannot be opened.
  JoinedDump(const std::vector<JobDump>& parts, const ShardRules& rules, const std::string& name);
  ~JoinedDump();

  /// The joined dump; may be called once. This object must outlive it.
  DumpSource source();

  /// A tensor that should be equal on all ranks, and the ranks whose bits differ from those of the
  /// first. Covers only ranges that were read so far.
  struct Split {
    std::string path;
    std::vector<std::int64_t> apart;
  };
  std::vector<Split> splits() const;
  /// The number of tensors that should be equal.
  std::int64_t replicas() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace opbench
