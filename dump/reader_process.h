#pragma once

#include <sys/types.h>

#include <memory>
#include <mutex>
#include <string>

#include "dump/catalogue.h"
#include "dump/message_socket.h"
#include "tensor/elements.h"

namespace opbench {

/// A process that reads one HDF5 file for this one. The library may crash in it, or never come back
/// from a damaged file: that is an Error here.
class ReaderProcess {
 public:
  /// Starts to list the file behind `descriptor`, which messages call `name`.
  /// Errors: throws RunError if no process can be started.
  ReaderProcess(int descriptor, const std::string& name);
  ReaderProcess(const ReaderProcess&) = delete;
  ReaderProcess& operator=(const ReaderProcess&) = delete;
  ~ReaderProcess();

  /// Waits for the list. Once only. `file_bytes` is the file's size.
  Catalogue catalogue(std::int64_t file_bytes);
  /// Elements by their places in the file, as memory wants them. Thread-safe, one at a time.
  void read(const DumpEntry& entry, ElementRange places, void* to);

  pid_t id() const { return id_; }

 private:
  Message answer(MessageKind wanted, const std::string& doing);
  [[noreturn]] void fail_of_end(const std::string& doing);
  std::string reason_of_end(const std::string& doing);

  std::string name_;
  std::mutex mutex_;
  pid_t id_ = -1;
  std::unique_ptr<MessageSocket> socket_;
};

}  // namespace opbench
