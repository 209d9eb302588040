#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/check/protocol.h"
#include "workers/process.h"

namespace opbench::check {

/// What a worker is spoken to through, line by line. Errors: as the calls of `ChildProcess`.
struct Connection {
  std::function<void(const std::string& line, double seconds)> write_line;
  std::function<std::string(double seconds)> read_line;
  /// Lets it end. Returns what is wrong with its end; empty: nothing. None: it has no end.
  std::function<std::string(double seconds)> finish = {};
};

/// How to start a build's worker, and how long to wait for one answer.
struct PeerProgram {
  std::string path;
  std::string directory;  ///< that it runs in, for its case files; empty: the current one
  double time_limit_s = 120;
  /// Starts a worker. None: the program as a process of its own; tests answer by themselves.
  std::function<Connection()> connect = {};
  /// A steady clock, in seconds; none: the system's.
  std::function<double()> now_s = {};
};

/// A worker as the gate sees it: calls that have an answer. Started when first asked; after a
/// ChildLost the next call starts a fresh one.
/// Errors of every call: ChildLost if the worker is lost or its answer is not one to the request,
/// PeerError with what it reports, Error if it is none or speaks another version.
class Peer {
 public:
  explicit Peer(PeerProgram program) : program_(std::move(program)) {}

  const BuildInfo& build();
  std::vector<ListedCase> list(const CaseSelection& selection);
  OpenReply open(const OpenRequest& request);
  /// With the tensors where `layout` puts them, small ones; 0: as they lie.
  Sampled sample(std::string_view variant, std::uint64_t layout = 0);
  /// Of a variant of the open case. A build that cannot tell has the reason in its reply, an older
  /// one, too.
  CodeReply code(std::string_view variant);
  /// Frees what the open case holds.
  void close();
  /// Lets the worker end; the next call starts another.
  void restart();
  /// What was wrong with the first end of a worker that did not end well: an exit code, a signal, a
  /// hang. Empty: all did.
  const std::string& bad_end() const { return bad_end_; }
  bool is_running() const { return connection_.has_value(); }

 private:
  Connection& connection();
  Connection& connect();
  std::string ask(const std::string& line);
  template <class Parse>
  auto parsed(const std::string& answer, Parse parse);
  /// Loses the worker for an answer that cannot be true.
  [[noreturn]] void refuse(const std::string& answered, const std::string& allowed);
  double now_s() const;

  PeerProgram program_;
  std::optional<Connection> connection_;
  BuildInfo build_;
  std::string bad_end_;
  bool has_said_hello_ = false;  ///< it is an opbench: what fails later is a worker's misfortune
};

}  // namespace opbench::check
