#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

namespace opbench {

/// A forked process. It is killed and waited for when this object goes, at the latest.
class Child {
 public:
  /// `own`: Ctrl-C at the terminal does not reach the child, and it ends with all processes that it
  /// started, those in groups or sessions of their own as well.
  enum class Group { ours, own };

  /// Calls `work` in the child, which then exits with code 0 and cleans up nothing of its parent.
  /// Errors: throws RunError "cannot {purpose}: {reason}" if no process can be started.
  Child(Group group, const std::string& purpose, const std::function<void()>& work);
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() { end(); }

  pid_t id() const { return id_; }
  /// False once `end` was called.
  bool is_held() const { return id_ > 0; }
  bool has_ended() const { return ends_within(0); }
  /// Waits so long for its end.
  bool ends_within(double seconds) const;
  /// Kills it if it still runs. Returns its wait status.
  int end();

 private:
  const Group group_;
  pid_t id_ = -1;
};

}  // namespace opbench
