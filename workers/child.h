#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

namespace opbench {

/// A forked process. The destructor kills it and waits for its end.
class Child {
 public:
  /// `own`: the child is in a separate process group. Ctrl-C at the terminal does not reach it.
  /// Ending it also ends all processes that it started, also those in other groups or sessions.
  enum class Group { ours, own };

  /// Calls `work` in the child, which then exits with code 0 without destructors of the parent's
  /// objects. Errors: throws RunError "cannot {purpose}: {reason}" if no process can be started.
  Child(Group group, const std::string& purpose, const std::function<void()>& work);
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() { end(); }

  pid_t id() const { return id_; }
  /// False after `end`.
  bool is_held() const { return id_ > 0; }
  bool has_ended() const { return ends_within(0); }
  /// Waits at most `seconds` for its end.
  bool ends_within(double seconds) const;
  /// Kills it if it still runs. Returns its wait status.
  int end();

 private:
  const Group group_;
  pid_t id_ = -1;
};

}  // namespace opbench
