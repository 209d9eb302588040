#pragma once

#include <cstdint>
#include <string>

namespace opbench {

/// What the contexts of a file may cost, so that a few lines of nested repetitions cannot ask for
/// all memory.
struct ContextLimits {
  std::int64_t nodes = 50000;                    ///< of one graph
  std::int64_t bytes = std::int64_t{256} << 20;  ///< of names, shapes and attributes in all graphs
};

/// Counts what has been read and unrolled of one file.
class ContextBudget {
 public:
  explicit ContextBudget(const ContextLimits& limits) : limits_(limits) {}

  /// Errors: throws Error, prefixed with `origin`, if that is too much in all.
  void spend(std::size_t bytes, const std::string& origin);
  /// Errors: throws Error, prefixed with `origin`, if a graph of so many nodes is too large.
  void require_nodes(std::size_t nodes, const std::string& origin) const;

 private:
  ContextLimits limits_;
  std::int64_t spent_ = 0;
};

}  // namespace opbench
