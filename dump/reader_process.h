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

/// The process that read a file ended: killed, or crashed by the file.
class ReaderEnded : public Error {
 public:
  ReaderEnded(const std::string& message, bool hung) : Error(message), was_hung(hung) {}
  const bool was_hung;  ///< it did not respond and was ended
};

/// A separate process that works on one HDF5 file. If the library crashes in it, or hangs on a
/// damaged file, calls throw ReaderEnded, and the process cannot be used again.
class ReaderProcess {
 public:
  /// Main function of the process, which opens the file at `path`.
  using Work = std::function<void(MessageSocket& socket, const std::string& path)>;

  /// Starts `work` on the file of the first descriptor, called `name` in messages. The process
  /// inherits only `descriptors`. Waits throw an Error once `stop`, if set, is true. Errors: throws
  /// RunError if no process can be started.
  ReaderProcess(std::vector<int> descriptors, const std::string& name, Work work,
                const std::function<bool()>& stop);

  /// Waits for the catalogue. May be called once. `file_bytes` is the file's size.
  Catalogue catalogue(std::int64_t file_bytes);
  /// Reads elements by their places in the file, as stored in memory. Thread-safe, one at a time.
  void read(const DumpEntry& entry, ElementRange places, void* to);
  /// Waits until work without requests, such as copying the file, is done. Errors: throws RunError
  /// for a failure of the machine.
  void finish(const std::string& doing);

 private:
  class Stuck {};                    // the process waits for a lock that is never released
  static constexpr int kStarts = 5;  // each may inherit a lock of another thread

  void start();
  /// Repeats `exchange` with a new process if the current process is stuck on a lock.
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
