#pragma once

#include <string>

namespace opbench::guest {

/// The lines that come from opbench and go to it. It takes over descriptors 0 and 1: a library
/// reads an empty input, and prints to standard error.
class Channel {
 public:
  Channel();
  Channel(const Channel&) = delete;

  /// Returns false at the end of the input.
  bool read(std::string& line);
  void write(std::string line);

 private:
  int input_ = -1, output_ = -1;
  std::string received_;
};

}  // namespace opbench::guest
