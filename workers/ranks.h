#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace opbench {

/// A message from one rank to another.
struct Letter {
  int from = 0;
  std::string text;
};

/// Communication between the ranks of one start. Used by one thread. No call blocks: callers wait
/// with Nap and call again.
class Transport {
 public:
  virtual ~Transport() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Number of ranks that share this machine's memory.
  virtual int machine_size() const = 0;
  /// Name of a rank's machine.
  virtual std::string machine(int rank) const = 0;

  /// Starts to send. Messages between two ranks arrive in order.
  virtual void send(int to, std::string text) = 0;
  /// True once all messages have left this process.
  virtual bool is_sent() = 0;
  /// Returns the next received message, if any.
  virtual std::optional<Letter> receive() = 0;
  /// False if a rank is known to have ended; detected on this machine only.
  virtual bool is_alive(int rank) = 0;

  /// Must be called by all ranks, as the last call.
  virtual void finish() = 0;
  /// Ends all ranks at once, this one with `code`.
  virtual void abort(int code) = 0;
};

/// Function that a transport's module exports as kMakeTransport: starts the transport, or returns
/// null with the reason in `error`.
using MakeTransport = Transport* (*)(std::string& error);
inline constexpr const char* kMakeTransport = "opbench_make_transport";

/// Kind of a message between ranks; its first byte.
enum class LetterKind : char { ready, units, result, failure, pause, leave, dismiss };

/// The processes that work on one command line: those started by one mpirun or srun, or this
/// process alone. Rank 0 receives results of the others, prints and writes.
class Ranks {
 public:
  /// A single process, without MPI.
  Ranks() = default;
  explicit Ranks(std::unique_ptr<Transport> transport);
  Ranks(Ranks&&) = default;
  Ranks& operator=(Ranks&&) = default;
  /// This process as the only rank.
  static Ranks& alone();

  int rank() const { return transport_ ? transport_->rank() : 0; }
  int size() const { return transport_ ? transport_->size() : 1; }
  bool is_first() const { return rank() == 0; }
  bool is_alone() const { return size() == 1; }
  /// Returns "rank 3 on node7".
  std::string describe(int rank) const;
  /// Number of cores for each rank of this machine when all of them work.
  int share_of_cores() const;

  /// Totals of rank 0's dispatches.
  struct Work {
    double unit_seconds = 0;  ///< sum over all units
    double wall_seconds = 0;
  };
  const Work& work() const { return work_; }
  void note_work(double unit_seconds, double wall_seconds);
  /// Share of all ranks' time spent on units; 0 without units.
  double efficiency() const;

  void send(int to, LetterKind kind, const std::string& text);
  /// Sends, and returns once the message is sent.
  void deliver(int to, LetterKind kind, const std::string& text);
  std::optional<Letter> receive();
  /// Errors: throws RunError with the rank if the process of a rank of this machine ended before it
  /// left. Rank 0 checks all ranks, others check rank 0.
  void require_all();
  /// Notes that a rank has left: it needs no dismissal, and its end is not an error.
  void note_leave(int rank);

  /// Must be the last call. Rank 0 dismisses all others and waits for them; the others wait for the
  /// dismissal. `message` describes a failure of this rank for rank 0. If ranks are lost or do not
  /// answer, all are ended. Returns the process's exit code.
  int finish(int code, const std::string& message);

 private:
  void finish_first(int code);
  void finish_other(int code, const std::string& message);

  std::unique_ptr<Transport> transport_;
  std::vector<bool> has_left_;
  Work work_;
};

/// Returns the ranks of this process: more than one if a launcher of MPI started it. Processes
/// started by this process are not ranks. Errors: throws Error if MPI was used, but this
/// installation has no MPI or MPI cannot be started.
Ranks start_ranks();

/// Lets this process and its children use every core of its launcher. mpirun binds each rank to few
/// cores, but ranks that take turns need all cores. Must be called before other threads start.
void use_cores_of_launcher();

/// Sleeps longer with each call, up to a millisecond, until `reset`.
class Nap {
 public:
  void reset() { microseconds_ = kShortest; }
  void sleep();
  int microseconds();

 private:
  static constexpr int kShortest = 20, kLongest = 1000;  // microseconds
  int microseconds_ = kShortest;
};

}  // namespace opbench
