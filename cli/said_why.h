#pragma once

#include <cstddef>
#include <mutex>
#include <ostream>
#include <streambuf>
#include <string>
#include <string_view>

namespace opbench {

/// Watches a stream during its own lifetime for a line that begins with "opbench: ". All output is
/// passed on, also from several threads.
class ComplaintWatch : public std::streambuf {
 public:
  explicit ComplaintWatch(std::ostream& stream);
  ~ComplaintWatch() override;
  ComplaintWatch(const ComplaintWatch&) = delete;
  ComplaintWatch& operator=(const ComplaintWatch&) = delete;

  bool has_seen_one() const { return has_seen_one_; }

 private:
  int_type overflow(int_type letter) override;
  std::streamsize xsputn(const char* text, std::streamsize count) override;
  int sync() override;
  void follow(char letter);

  std::ostream& stream_;
  std::streambuf* target_;
  const std::string beginning_;
  std::mutex mutex_;
  std::size_t matched_ = 0;  // of `beginning_`, in this line
  bool is_in_escape_ = false, has_seen_one_ = false;
};

/// The message for an exit code without an earlier message; empty if the code needs none.
std::string_view reason_of(int exit_code);

}  // namespace opbench
