#include "opbench/guest/channel.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace opbench::guest {
namespace {

/// A copy of a descriptor that is not below 10, where libraries may look for standard streams.
int moved(int descriptor) { return fcntl(descriptor, F_DUPFD_CLOEXEC, 10); }

}  // namespace

Channel::Channel() : input_(moved(STDIN_FILENO)), output_(moved(STDOUT_FILENO)) {
  dup2(STDERR_FILENO, STDOUT_FILENO);
  const int empty = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (empty >= 0) {
    dup2(empty, STDIN_FILENO);
    ::close(empty);
  }
}

bool Channel::read(std::string& line) {
  std::size_t end = 0;
  while ((end = received_.find('\n')) == std::string::npos) {
    char part[65536];
    const ssize_t count = ::read(input_, part, sizeof part);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    received_.append(part, std::size_t(count));
  }
  line = received_.substr(0, end);
  received_.erase(0, end + 1);
  return true;
}

void Channel::write(std::string line) {
  line += '\n';
  for (std::size_t done = 0; done < line.size();) {
    const ssize_t count = ::write(output_, line.data() + done, line.size() - done);
    if (count < 0 && errno != EINTR) return;  // opbench has ended; the next read ends this program
    if (count > 0) done += std::size_t(count);
  }
}

}  // namespace opbench::guest
