#include <fmt/format.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "dump/dump_selection.h"
#include "dump/hdf5/output.h"
#include "dump/regular_file.h"
#include "tensor/error.h"
#include "text/temporary_file.h"
#include "workers/child_process.h"
#include "workers/message_socket.h"

namespace opbench {
namespace {

/// A child process that ends with this at the latest.
class Child {
 public:
  explicit Child(pid_t id) : id_(id) {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (id_ <= 0) return;
    kill(id_, SIGKILL);
    while (waitpid(id_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  pid_t& id() { return id_; }

 private:
  pid_t id_;
};

[[noreturn]] void run_child(pid_t parent, int source, int socket, const std::string& name,
                            TemporaryFile& file, const std::vector<std::string>& objects) {
  confine_child(parent, {source, socket, file.descriptor()});
  setenv("HDF5_USE_FILE_LOCKING", "FALSE", 1);  // it may lie where nothing can be locked
  MessageSocket theirs(socket);
  hdf5::copy_objects(theirs, fmt::format("/proc/self/fd/{}", source), name, file, objects);
  _exit(0);  // nothing of the parent's is to be cleaned up here
}

void check_answer(const Message& answer) {
  if (answer.kind == MessageKind::failure) throw RunError(answer.bytes);
  if (answer.kind != MessageKind::data) throw Error(answer.bytes);
}

}  // namespace

void extract(const std::filesystem::path& from, const std::filesystem::path& to,
             const std::vector<std::string>& objects, const std::function<bool()>& stop) {
  const std::string name = from.string();
  const RegularFile source(from);
  TemporaryFile file(to);
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    throw RunError(fmt::format("cannot read {}: {}", name, std::strerror(errno)));
  }
  MessageSocket ours(ends[0]);
  const pid_t parent = getpid();
  Child child(fork());
  if (child.id() == 0) run_child(parent, source.descriptor(), ends[1], name, file, objects);
  close(ends[1]);
  if (child.id() < 0) {
    throw RunError(fmt::format("cannot read {}: {}", name, std::strerror(errno)));
  }
  Message answer;
  const bool has_answer = ours.receive(answer, stop);
  if (stop && stop()) throw RunError(fmt::format("interrupted; {} is not written", to.string()));
  source.check_unchanged();
  if (!has_answer) {
    throw Error(
        fmt::format("cannot read {}: {}", name, reason_of(end_of(child.id()), "copying from it")));
  }
  check_answer(answer);
  file.commit();
}

}  // namespace opbench
