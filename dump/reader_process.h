#pragma once

#include <sys/types.h>

#include <functional>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <string>

#include "dump/catalogue.h"
#include "tensor/elements.h"
#include "tensor/error.h"
#include "workers/message_socket.h"

namespace opbench {

/// The process that read a file is gone: killed, or ended by what it read.
class ReaderEnded : public Error {
 public:
  ReaderEnded(const std::string& message, bool hung) : Error(message), was_hung(hung) {}
  const bool was_hung;  ///< ended because it did not come back
};

/// A process that reads one HDF5 file for this one. The library may crash in it, or never come back
/// from a damaged file: that is a ReaderEnded here, and of no use any more is the process.
class ReaderProcess {
 public:
  enum class Task { list_and_read, read };

  /// Starts to list the file behind `descriptor`, which messages call `name`, if that is its task.
  /// Waits give up with an Error once `stop`, if there is one, is true.
  /// Errors: throws RunError if no process can be started.
  ReaderProcess(int descriptor, const std::string& name, Task task,
                const std::function<bool()>& stop);
  ReaderProcess(const ReaderProcess&) = delete;
  ReaderProcess& operator=(const ReaderProcess&) = delete;
  ~ReaderProcess();

  /// Waits for the list. Once only. `file_bytes` is the file's size.
  Catalogue catalogue(std::int64_t file_bytes);
  /// Elements by their places in the file, as memory wants them. Thread-safe, one at a time.
  void read(const DumpEntry& entry, ElementRange places, void* to);

  pid_t id() const { return id_; }

 private:
  class Stuck {};  // the process waits for a lock for ever
  static constexpr int kStarts = 5;

  void start();
  void end();
  /// Repeats `work` with a new process if the one there is was started at a bad moment.
  template <class Work>
  auto retried(const std::string& doing, const Work& work);
  Catalogue receive_catalogue(std::int64_t file_bytes);
  Message receive_data(const std::string& request, const std::string& doing);
  Message answer(std::initializer_list<MessageKind> wanted, const std::string& doing);
  [[noreturn]] void fail_of_end(const std::string& doing);

  int descriptor_;
  std::string name_;
  Task task_;
  const std::function<bool()>& stop_;
  std::mutex mutex_;
  pid_t id_ = -1;
  std::unique_ptr<MessageSocket> socket_;
};

}  // namespace opbench
