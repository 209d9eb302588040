#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "harness/check/process.h"
#include "harness/check/protocol.h"

namespace opbench {

/// How to start a build's worker, and how long to wait for one answer.
struct PeerProgram {
  std::string path;
  std::string directory;  ///< that it runs in, for its case files; empty: the current one
  double time_limit_s = 120;
};

/// A worker as the gate sees it: calls that have an answer. Started when first asked; after a
/// ChildLost the next call starts a fresh one.
/// Errors of every call: ChildLost if the worker is lost or talks nonsense, PeerError with what it
/// reports, Error if it is none or speaks another version.
class Peer {
 public:
  explicit Peer(PeerProgram program) : program_(std::move(program)) {}

  const BuildInfo& build();
  std::vector<ListedCase> list(const RunOptions& options);
  OpenReply open(const OpenRequest& request);
  double sample_us(std::string_view variant);
  /// Frees what the open case holds.
  void close();
  /// Ends the worker; the next call starts another.
  void restart() { child_.reset(); }
  bool is_running() const { return child_ != nullptr; }

 private:
  ChildProcess& child();
  std::string ask(const std::string& line);
  template <class Parse>
  auto parsed(const std::string& answer, Parse parse);

  PeerProgram program_;
  std::unique_ptr<ChildProcess> child_;
  BuildInfo build_;
};

}  // namespace opbench
