#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "opbench/guest/library.h"
#include "opbench/guest/shared_memory.h"
#include "opbench/guest/watch.h"

namespace opbench::guest {

/// Answers the messages of opbench for one library, which is loaded by the first `describe`.
class Guest {
 public:
  Guest(std::string file, std::vector<Mapping> mappings);

  /// Returns one line of JSON. Every failure is an answer.
  std::string answer(const std::string& line);
  /// Closes all sessions.
  void close_all() { sessions_.clear(); }

 private:
  struct Open {
    std::unique_ptr<Session> session;
    bool was_called = false;
  };

  Json answer_to(const Json& message);
  Json describe(const Json& message);
  Json open(const Json& message);
  Json make_cold();
  Json call(Open& open);
  Open& session_of(const Json& message);

  Clock clock_;
  std::string file_;
  std::vector<Mapping> mappings_;
  SharedMemory memory_;
  std::unique_ptr<Library> library_;
  std::map<std::int64_t, Open> sessions_;
  bool is_cpu_ = true;
};

}  // namespace opbench::guest
