#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace opbench {

/// Bytes from one rank to another.
struct Letter {
  int from = 0;
  std::string text;
};

/// How the ranks of one start reach each other. Used by one thread. No call spins: who waits calls
/// again after a nap.
class Transport {
 public:
  virtual ~Transport() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// How many ranks share this one's memory.
  virtual int machine_size() const = 0;
  /// The name of the machine that a rank is on.
  virtual std::string machine(int rank) const = 0;

  /// Starts to send. What one rank sends another arrives in that order.
  virtual void send(int to, std::string text) = 0;
  /// True once all that was sent is out of this process's hands.
  virtual bool is_sent() = 0;
  /// The next letter that has arrived, if there is one.
  virtual std::optional<Letter> receive() = 0;
  /// False if a rank is known to be gone: one of this machine whose process has ended.
  virtual bool is_alive(int rank) = 0;

  /// All ranks call it, as the last of all calls.
  virtual void finish() = 0;
  /// Ends all ranks at once, this one with `code`.
  virtual void abort(int code) = 0;
};

/// What the module of a transport exports under kMakeTransport: starts it, or returns null with the
/// reason in `error`.
using MakeTransport = Transport* (*)(std::string& error);
inline constexpr const char* kMakeTransport = "opbench_make_transport";

/// What a letter between ranks is about; its first byte.
enum class LetterKind : char { ready, units, result, failure, pause, leave, dismiss };

/// The processes that work on one command line together: those that one mpirun or srun has started,
/// or this one alone. Rank 0 reads what the others find out, prints and writes.
class Ranks {
 public:
  /// One process, without MPI.
  Ranks() = default;
  explicit Ranks(std::unique_ptr<Transport> transport);
  Ranks(Ranks&&) = default;
  Ranks& operator=(Ranks&&) = default;
  /// This process, as the only rank.
  static Ranks& alone();

  int rank() const { return transport_ ? transport_->rank() : 0; }
  int size() const { return transport_ ? transport_->size() : 1; }
  bool is_first() const { return rank() == 0; }
  bool is_alone() const { return size() == 1; }
  /// "rank 3 on node7".
  std::string describe(int rank) const;
  /// Cores for each rank of this machine when all of them work.
  int share_of_cores() const;

  /// What rank 0's dispatches have come to, one after the other.
  struct Work {
    double unit_seconds = 0;  ///< sum over all units
    double wall_seconds = 0;
  };
  const Work& work() const { return work_; }
  void note_work(double unit_seconds, double wall_seconds);
  /// Share of all ranks' time in which they worked on units; 0 without any.
  double efficiency() const;

  void send(int to, LetterKind kind, const std::string& text);
  /// Sends, and returns once it is sent.
  void deliver(int to, LetterKind kind, const std::string& text);
  std::optional<Letter> receive();
  /// Errors: throws RunError that names a rank of this machine, one that has not left, whose
  /// process has ended. On rank 0 any of them, on others rank 0.
  void require_all();
  /// Notes that a rank has left: it needs no dismissal and its end is no loss.
  void note_leave(int rank);

  /// The last call. Rank 0 dismisses all others and waits for them, the others wait for that;
  /// `message` is what went wrong here, for rank 0. Where ranks are lost or do not come, all are
  /// ended. Returns the process's exit code.
  int finish(int code, const std::string& message);

 private:
  void finish_first(int code);
  void finish_other(int code, const std::string& message);

  std::unique_ptr<Transport> transport_;
  std::vector<bool> has_left_;
  Work work_;
};

/// The ranks that this process is one of: more than one if a launcher of MPI has started it. What
/// the process starts itself counts as no rank.
/// Errors: throws Error if it was, but this installation has no MPI or MPI cannot be started.
Ranks start_ranks();

/// Lets this process, and what it starts, use every core that its launcher may use: mpirun binds
/// each rank to a core or a few, and ranks that take turns have all in theirs. To be called before
/// anything runs in several threads.
void use_cores_of_launcher();

/// Sleeps for longer each time, up to a millisecond, until `reset`.
class Nap {
 public:
  void reset() { microseconds_ = kShortest; }
  void sleep();
  int microseconds();

 private:
  static constexpr int kShortest = 20, kLongest = 1000;
  int microseconds_ = kShortest;
};

}  // namespace opbench
