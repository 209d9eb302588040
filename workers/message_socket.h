#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace opbench {

/// Messages from the process that reads a file to its parent.
enum class MessageKind : std::uint32_t {
  catalogue_part,  ///< more parts follow
  catalogue,       ///< the last part
  data,
  problem,
  failure,  ///< failure of the machine, such as a full disk
  request
};

struct Message {
  MessageKind kind = MessageKind::problem;
  std::string bytes;
};

/// One end of a socket for whole messages. Owns its descriptor.
class MessageSocket {
 public:
  explicit MessageSocket(int descriptor) : descriptor_(descriptor) {}
  MessageSocket(const MessageSocket&) = delete;
  MessageSocket& operator=(const MessageSocket&) = delete;
  ~MessageSocket();

  /// Returns false if the other end is closed.
  bool send(MessageKind kind, std::string_view bytes);
  /// Returns false if the other end is closed or sends invalid data, and once `stop`, if set, is
  /// true. The connection cannot be used after that.
  bool receive(Message& message, const std::function<bool()>& stop = {});
  void close();

 private:
  bool receive_bytes(void* to, std::size_t count, const std::function<bool()>& stop);
  bool wait_for_bytes(const std::function<bool()>& stop) const;

  int descriptor_;
};

}  // namespace opbench
