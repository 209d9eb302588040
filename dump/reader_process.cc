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
#include <utility>

#include "dump/hdf5/server.h"
#include "tensor/error.h"
#include "tensor/utf8.h"
#include "workers/confined.h"

namespace opbench {
namespace {

constexpr std::size_t kLargestList = std::size_t{16}
                                     << 30;  // bytes; more means that the process failed

bool is_hung(std::optional<int> status) {
  return status && WIFEXITED(*status) && WEXITSTATUS(*status) == kHungExitCode;
}

// `status`: the wait status; empty if the process did not end by itself.
std::string reason_of(std::optional<int> status, const std::string& doing) {
  if (status && WIFSIGNALED(*status)) {
    const int signal = WTERMSIG(*status);
    // Out of memory, or ended by a user: no conclusion about the file.
    const bool may_be_damaged = signal != SIGKILL && signal != SIGTERM;
    return fmt::format("the process that read it ended by signal {} ({}) while {}{}", signal,
                       strsignal(signal), doing, may_be_damaged ? "; the file may be damaged" : "");
  }
  return fmt::format("the HDF5 library {} {}; the file is damaged",
                     is_hung(status) ? "did not finish" : "crashed while", doing);
}

}  // namespace

ReaderProcess::ReaderProcess(std::vector<int> descriptors, const std::string& name, Work work,
                             const std::function<bool()>& stop)
    : descriptors_(std::move(descriptors)), name_(name), work_(std::move(work)), stop_(stop) {
  start();
}

void ReaderProcess::start() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    throw RunError(fmt::format("cannot read {}: {}", name_, std::strerror(errno)));
  }
  socket_ = std::make_unique<MessageSocket>(ends[0]);
  MessageSocket theirs(ends[1]);
  const pid_t parent = getpid();
  std::vector<int> kept = descriptors_;
  kept.push_back(ends[1]);
  child_.emplace(Child::Group::ours, "read " + name_, [&] {
    confine_child(parent, std::move(kept));
    // The file system may not support locks, and no process writes to the file here.
    setenv("HDF5_USE_FILE_LOCKING", "FALSE", 1);
    work_(theirs, fmt::format("/proc/self/fd/{}", descriptors_.front()));
  });
}

template <class Exchange>
auto ReaderProcess::retried(const std::string& doing, const Exchange& exchange) {
  for (int starts = 1;; ++starts) {
    try {
      return exchange();
    } catch (const Stuck&) {
      child_.reset();
      if (starts < kStarts) start();
    }
    if (starts == kStarts) {
      throw ReaderEnded(
          fmt::format("cannot read {}: {} processes in a row waited for a lock of "
                      "another thread while {}; read it while no other thread uses HDF5",
                      name_, kStarts, doing),
          true);
    }
  }
}

Catalogue ReaderProcess::catalogue(std::int64_t file_bytes) {
  const std::lock_guard lock(mutex_);
  Catalogue catalogue = retried("listing it", [&] { return receive_catalogue(file_bytes); });
  sort_records(catalogue);
  return catalogue;
}

Catalogue ReaderProcess::receive_catalogue(std::int64_t file_bytes) {
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
  return catalogue;
}

void ReaderProcess::read(const DumpEntry& entry, ElementRange places, void* to) {
  const std::lock_guard lock(mutex_);
  const std::string doing = "reading " + printable(entry.path);
  const std::string request = hdf5::encode_request(entry, places);
  const Message message = retried(doing, [&] { return receive_data(request, doing); });
  const std::size_t wanted = static_cast<std::size_t>(places.count) * size_of(entry.stored);
  if (message.bytes.size() != wanted) {
    throw Error(fmt::format("{}: {}: {} bytes came for {}; was the file changed?", name_,
                            printable(entry.path), message.bytes.size(), wanted));
  }
  if (wanted > 0) std::memcpy(to, message.bytes.data(), wanted);
}

void ReaderProcess::finish(const std::string& doing) {
  retried(doing, [&] { return answer({MessageKind::data}, doing); });
}

Message ReaderProcess::receive_data(const std::string& request, const std::string& doing) {
  if (!socket_->send(MessageKind::request, request)) fail_of_end(doing);
  return answer({MessageKind::data}, doing);
}

Message ReaderProcess::answer(std::initializer_list<MessageKind> wanted, const std::string& doing) {
  Message message;
  LockWatch locks;
  bool is_stopped = false, is_stuck = false;
  const auto gives_up = [&] {
    is_stopped = stop_ && stop_();
    is_stuck = locks.is_stuck(child_->id());
    return is_stopped || is_stuck;
  };
  if (!socket_->receive(message, gives_up)) {
    if (is_stopped) throw Error(fmt::format("stopped while {}", doing));
    if (is_stuck) throw Stuck();
    fail_of_end(doing);
  }
  if (message.kind == MessageKind::problem) throw Error(message.bytes);
  if (message.kind == MessageKind::failure) throw RunError(message.bytes);
  if (std::find(wanted.begin(), wanted.end(), message.kind) == wanted.end()) fail_of_end(doing);
  return message;
}

// The process ended or sent an unexpected message: the library overwrote its memory.
void ReaderProcess::fail_of_end(const std::string& doing) {
  socket_->close();  // ends a process that still runs
  const bool has_ended = child_->ends_within(1);
  const int status = child_->end();
  const std::optional<int> own = has_ended ? std::optional(status) : std::nullopt;
  throw ReaderEnded(fmt::format("cannot read {}: {}", name_, reason_of(own, doing)), is_hung(own));
}

}  // namespace opbench
