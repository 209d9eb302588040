#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "dump/catalogue.h"
#include "tensor/elements.h"
#include "tensor/error.h"
#include "workers/child.h"
#include "workers/message_socket.h"

namespace opbench {

/// The process that read a file is gone: killed, or ended by what it read.
class ReaderEnded : public Error {
 public:
  ReaderEnded(const std::string& message, bool hung) : Error(message), was_hung(hung) {}
  const bool was_hung;  ///< ended because it did not come back
};

/// A process that works on one HDF5 file for this one. The library may crash in it, or never come
/// back from a damaged file: that is a ReaderEnded here, and of no use any more is the process.
class ReaderProcess {
 public:
  /// The part of the process, which finds the file at `path`.
  using Work = std::function<void(MessageSocket& socket, const std::string& path)>;

  /// Starts `work` on the file behind the first of `descriptors`, which messages call `name`; the
  /// process keeps no others. Waits give up with an Error once `stop`, if there is one, is true.
  /// Errors: throws RunError if no process can be started.
  ReaderProcess(std::vector<int> descriptors, const std::string& name, Work work,
                const std::function<bool()>& stop);

  /// Waits for the list. Once only. `file_bytes` is the file's size.
  Catalogue catalogue(std::int64_t file_bytes);
  /// Elements by their places in the file, as memory wants them. Thread-safe, one at a time.
  void read(const DumpEntry& entry, ElementRange places, void* to);
  /// Waits until work that is not asked for anything is done: that of copying the file.
  /// Errors: throws RunError for a failure of the machine.
  void finish(const std::string& doing);

 private:
  class Stuck {};  // the process waits for a lock for ever
  static constexpr int kStarts = 5;

  void start();
  /// Repeats `exchange` with a new process if the one there is was started at a bad moment.
  template <class Exchange>
  auto retried(const std::string& doing, const Exchange& exchange);
  Catalogue receive_catalogue(std::int64_t file_bytes);
  Message receive_data(const std::string& request, const std::string& doing);
  Message answer(std::initializer_list<MessageKind> wanted, const std::string& doing);
  [[noreturn]] void fail_of_end(const std::string& doing);

  const std::vector<int> descriptors_;
  const std::string name_;
  const Work work_;
  const std::function<bool()>& stop_;
  std::mutex mutex_;
  std::unique_ptr<MessageSocket> socket_;
  std::optional<Child> child_;
};

}  // namespace opbench
