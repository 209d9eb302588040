#pragma once

#include <optional>
#include <string>

namespace opbench {

/// Bytes from one rank to another.
struct Letter {
  int from = 0;
  std::string text;
};

/// How the ranks of one start reach each other. Used by one thread, but for the turn. No call
/// spins: who waits calls again after a nap.
class Transport {
 public:
  virtual ~Transport() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Place among the ranks that share this one's memory, and how many those are.
  virtual int machine_rank() const = 0;
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

  /// Takes and gives back the turn, which one rank of a machine has at a time; a rank that is gone
  /// does not keep it. By any thread, the same for both.
  virtual void take_turn() = 0;
  virtual void end_turn() = 0;

  /// All ranks call it, as the last of all calls.
  virtual void finish() = 0;
  /// Ends all ranks at once, this one with `code`.
  virtual void abort(int code) = 0;
};

/// What the module of a transport exports under kMakeTransport: starts it, or returns null with the
/// reason in `error`.
using MakeTransport = Transport* (*)(std::string& error);
inline constexpr const char* kMakeTransport = "opbench_make_transport";

}  // namespace opbench
