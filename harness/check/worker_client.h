#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/check/protocol.h"
#include "workers/process.h"

namespace opbench::check {

/// Connection to a worker, line by line.
/// Errors: as the calls of `ChildProcess`.
struct Connection {
  std::function<void(const std::string& line, double seconds)> write_line;
  std::function<std::string(double seconds)> read_line;
  /// Ends the worker. Returns the fault of its end; empty: it ended well. None: it is not ended.
  std::function<std::string(double seconds)> finish = {};
};

/// Command line of a build's worker, and the time limit of an answer.
struct WorkerProgram {
  std::string path;
  std::string directory;  ///< working directory, for its case files; empty: the present one
  double time_limit_s = 120;
  std::vector<std::string> kernels = {};  ///< files of --kernels, of this build only
  /// Starts a worker. None: a process of the program. Tests pass their own connection.
  std::function<Connection()> connect = {};
  /// A steady clock, in seconds; none: the system's.
  std::function<double()> now_s = {};
};

/// Client of a worker: each call sends a request and returns the answer. The worker is started by
/// the first call. After a ChildLost the next call starts a new one. Errors of every call:
/// ChildLost if the worker is lost or its answer does not match the request, WorkerError with the
/// message that it reports, Error if the program is not a worker or speaks another version.
class WorkerClient {
 public:
  explicit WorkerClient(WorkerProgram program) : program_(std::move(program)) {}

  const BuildInfo& build();
  std::vector<ListedCase> list(const CaseSelection& selection);
  OpenReply open(const OpenRequest& request);
  /// `layout`: placement of small tensors; 0: unchanged.
  Sampled sample(std::string_view variant, std::uint64_t layout = 0);
  /// Code fingerprint of a variant of the open case. A build that cannot compute it gives the
  /// reason, and so does an older build.
  CodeReply code(std::string_view variant);
  /// Frees the memory of the open case.
  void close();
  /// Ends the worker. The next call starts another.
  void restart();
  /// Fault of the first worker that did not end well: an exit code, a signal, a hang. Empty: all
  /// ended well.
  const std::string& bad_end() const { return bad_end_; }
  bool is_running() const { return connection_.has_value(); }

 private:
  Connection& connection();
  Connection& connect();
  std::string ask(const std::string& line);
  template <class Parse>
  auto parsed(const std::string& answer, Parse parse);
  /// Treats the worker as lost because of an implausible answer.
  [[noreturn]] void refuse(const std::string& answered, const std::string& allowed);
  double now_s() const;

  WorkerProgram program_;
  std::optional<Connection> connection_;
  BuildInfo build_;
  std::string bad_end_;
  bool has_said_hello_ = false;  ///< it is an opbench: later faults are those of a worker
};

}  // namespace opbench::check
