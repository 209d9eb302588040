#include "dump/reader_process.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "dump/hdf5/server.h"
#include "tensor/error.h"
#include "tensor/printable.h"
#include "workers/child_process.h"

namespace opbench {

namespace {

constexpr std::size_t kLargestList = std::size_t{16} << 30;  // bytes, of a process gone wrong

}  // namespace

ReaderProcess::ReaderProcess(int descriptor, const std::string& name, Task task,
                             const std::function<bool()>& stop)
    : name_(name), stop_(stop) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    throw RunError(fmt::format("cannot read {}: {}", name, std::strerror(errno)));
  }
  socket_ = std::make_unique<MessageSocket>(ends[0]);
  MessageSocket theirs(ends[1]);
  const pid_t parent = getpid();
  id_ = fork();
  if (id_ < 0) throw RunError(fmt::format("cannot read {}: {}", name, std::strerror(errno)));
  if (id_ > 0) return;
  socket_->close();
  confine_child(parent, {descriptor, ends[1]});
  // The file may lie where nothing can be locked; nobody writes to it here.
  setenv("HDF5_USE_FILE_LOCKING", "FALSE", 1);
  hdf5::serve(theirs, fmt::format("/proc/self/fd/{}", descriptor), name,
              task == Task::list_and_read);
  _exit(0);  // nothing of the parent's is to be cleaned up here
}

ReaderProcess::~ReaderProcess() {
  socket_->close();
  if (id_ <= 0) return;
  kill(id_, SIGKILL);
  while (waitpid(id_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

Catalogue ReaderProcess::catalogue(std::int64_t file_bytes) {
  const std::lock_guard lock(mutex_);
  Catalogue catalogue;
  std::size_t bytes = 0;
  for (MessageKind kind = MessageKind::catalogue_part; kind != MessageKind::catalogue;) {
    const Message message =
        answer({MessageKind::catalogue_part, MessageKind::catalogue}, "listing it");
    kind = message.kind;
    bytes += message.bytes.size();
    try {
      if (bytes > kLargestList) throw Error("a list without an end");
      append(catalogue, decode_catalogue(message.bytes, file_bytes));
    } catch (const Error&) {
      fail_of_end("listing it");
    }
  }
  sort_records(catalogue);
  return catalogue;
}

void ReaderProcess::read(const DumpEntry& entry, ElementRange places, void* to) {
  const std::lock_guard lock(mutex_);
  const std::string doing = "reading " + printable(entry.path);
  if (!socket_->send(MessageKind::request, hdf5::encode_request(entry, places))) {
    fail_of_end(doing);
  }
  const Message message = answer({MessageKind::data}, doing);
  const std::size_t wanted = static_cast<std::size_t>(places.count) * size_of(entry.stored);
  if (message.bytes.size() != wanted) {
    throw Error(fmt::format("{}: {}: {} bytes came for {}; was the file changed?", name_,
                            printable(entry.path), message.bytes.size(), wanted));
  }
  if (wanted > 0) std::memcpy(to, message.bytes.data(), wanted);
}

Message ReaderProcess::answer(std::initializer_list<MessageKind> wanted, const std::string& doing) {
  Message message;
  if (!socket_->receive(message, stop_)) {
    if (stop_ && stop_()) throw Error(fmt::format("stopped while {}", doing));
    fail_of_end(doing);
  }
  if (message.kind == MessageKind::problem) throw Error(message.bytes);
  if (std::find(wanted.begin(), wanted.end(), message.kind) == wanted.end()) fail_of_end(doing);
  return message;
}

// The process is gone, or sent what it never should have: then the library overwrote its memory.
void ReaderProcess::fail_of_end(const std::string& doing) {
  socket_->close();  // ends a healthy one
  const ChildEnd end = end_of(id_);
  throw ReaderEnded(fmt::format("cannot read {}: {}", name_, reason_of(end, doing)), end.was_hung);
}

}  // namespace opbench
