#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace opbench {

/// What the process that reads a file says to the one that asked.
enum class MessageKind : std::uint32_t {
  catalogue_part,  ///< more of it follows
  catalogue,       ///< its last part
  data,
  problem,
  failure,  ///< of the machine: a full disk
  request
};

struct Message {
  MessageKind kind = MessageKind::problem;
  std::string bytes;
};

/// One end of a socket that carries whole messages; owns its descriptor.
class MessageSocket {
 public:
  explicit MessageSocket(int descriptor) : descriptor_(descriptor) {}
  MessageSocket(const MessageSocket&) = delete;
  MessageSocket& operator=(const MessageSocket&) = delete;
  ~MessageSocket();

  /// False if the other end is gone.
  bool send(MessageKind kind, std::string_view bytes);
  /// False if the other end is gone or sends something else, and once `stop`, if there is one, is
  /// true: then the connection is of no use any more.
  bool receive(Message& message, const std::function<bool()>& stop = {});
  void close();

 private:
  bool receive_bytes(void* to, std::size_t count, const std::function<bool()>& stop);
  bool wait_for_bytes(const std::function<bool()>& stop) const;

  int descriptor_;
};

}  // namespace opbench
