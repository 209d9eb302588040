#include "workers/message_socket.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace opbench {
namespace {

struct Head {
  MessageKind kind;
  std::uint64_t bytes;
};

constexpr std::uint64_t kLargestMessage = std::uint64_t{16} << 30;

bool send_bytes(int descriptor, const void* from, std::size_t count) {
  const auto* bytes = static_cast<const char*>(from);
  while (count > 0) {
    const ssize_t sent = ::send(descriptor, bytes, count, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes += sent;
    count -= static_cast<std::size_t>(sent);
  }
  return true;
}

}  // namespace

MessageSocket::~MessageSocket() { close(); }

void MessageSocket::close() {
  const int descriptor = std::exchange(descriptor_, -1);
  if (descriptor >= 0) ::close(descriptor);
}

bool MessageSocket::send(MessageKind kind, std::string_view bytes) {
  Head head{};
  head.kind = kind;
  head.bytes = bytes.size();
  return send_bytes(descriptor_, &head, sizeof head) &&
         send_bytes(descriptor_, bytes.data(), bytes.size());
}

bool MessageSocket::receive(Message& message, const std::function<bool()>& stop) {
  Head head{};
  if (!receive_bytes(&head, sizeof head, stop) || head.bytes > kLargestMessage) return false;
  message.kind = head.kind;
  // The buffer grows with the received bytes, so a damaged length costs no memory.
  constexpr std::size_t kPiece = 64 << 20;
  message.bytes.clear();
  while (message.bytes.size() < head.bytes) {
    const std::size_t had = message.bytes.size();
    message.bytes.resize(had + std::min<std::size_t>(kPiece, head.bytes - had));
    if (!receive_bytes(message.bytes.data() + had, message.bytes.size() - had, stop)) return false;
  }
  return true;
}

// A signal may occur between two checks of it, so each wait is short.
bool MessageSocket::wait_for_bytes(const std::function<bool()>& stop) const {
  constexpr int kMilliseconds = 100;
  while (stop) {
    pollfd waiting{descriptor_, POLLIN, 0};
    const int ready = poll(&waiting, 1, kMilliseconds);
    if (ready > 0) break;
    if (stop() || (ready < 0 && errno != EINTR)) return false;
  }
  return true;
}

bool MessageSocket::receive_bytes(void* to, std::size_t count, const std::function<bool()>& stop) {
  auto* bytes = static_cast<char*>(to);
  while (count > 0) {
    if (!wait_for_bytes(stop)) return false;
    const ssize_t received = recv(descriptor_, bytes, count, 0);
    if (received < 0 && errno == EINTR) continue;
    if (received <= 0) return false;
    bytes += received;
    count -= static_cast<std::size_t>(received);
  }
  return true;
}

}  // namespace opbench
