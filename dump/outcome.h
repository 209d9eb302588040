#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace opbench {

/// What could not be converted, and why.
struct ConvertFailure {
  std::string file;
  std::string reason;          ///< names the file and the field
  bool is_of_machine = false;  ///< good input, but it could not be carried out
};

/// What a conversion did.
struct ConvertOutcome {
  std::int64_t sources = 0;          ///< files that were read
  std::int64_t written = 0;          ///< files
  std::vector<std::string> remarks;  ///< what was left out on purpose, one line each
  std::vector<ConvertFailure> failures;

  void add(ConvertOutcome&& other);
  /// Runs `work`; what it throws becomes a failure of `file`.
  void attempt(const std::string& file, const std::function<void()>& work);
};

}  // namespace opbench
