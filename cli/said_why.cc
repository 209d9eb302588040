#include "cli/said_why.h"

#include <cctype>

#include "cli/cli.h"
#include "text/program.h"
#include "workers/interrupt.h"

namespace opbench {

ComplaintWatch::ComplaintWatch(std::ostream& stream)
    : stream_(stream), target_(stream.rdbuf()), beginning_(std::string(program_name()) + ": ") {
  stream_.rdbuf(this);
}

ComplaintWatch::~ComplaintWatch() { stream_.rdbuf(target_); }

ComplaintWatch::int_type ComplaintWatch::overflow(int_type letter) {
  if (traits_type::eq_int_type(letter, traits_type::eof())) return traits_type::not_eof(letter);
  const char one = traits_type::to_char_type(letter);
  return xsputn(&one, 1) == 1 ? letter : traits_type::eof();
}

std::streamsize ComplaintWatch::xsputn(const char* text, std::streamsize count) {
  const std::lock_guard guard(mutex_);
  for (std::streamsize i = 0; i < count && !has_seen_one_; ++i) follow(text[i]);
  return target_->sputn(text, count);
}

int ComplaintWatch::sync() {
  const std::lock_guard guard(mutex_);
  return target_->pubsync();
}

// Overwritten progress ends with the escape sequence that clears its line.
void ComplaintWatch::follow(char letter) {
  constexpr char kEscape = '\033';
  constexpr std::size_t kNoMatch = static_cast<std::size_t>(-1);
  if (is_in_escape_) {
    is_in_escape_ = std::isalpha(static_cast<unsigned char>(letter)) == 0;
  } else if (letter == kEscape) {
    is_in_escape_ = true;
  } else if (letter == '\n' || letter == '\r') {
    matched_ = 0;
  } else if (matched_ != kNoMatch) {
    matched_ = letter == beginning_[matched_] ? matched_ + 1 : kNoMatch;
    has_seen_one_ = matched_ == beginning_.size();
  }
}

std::string_view reason_of(int exit_code) {
  switch (exit_code) {
    case kAllWell:
    case kVerdictFailed:
    case kReaderGone:
      return {};
    case kBadInput:
      return "the input cannot be used; the reason is printed above";
    case kCouldNotFinish:
      return interrupted() ? "interrupted: earlier results are kept"
                           : "could not finish; the reason is printed above";
    case kNothingToJudge:
      return "nothing could be judged; the reason is printed above";
    case kTooNoisy:
      return "this machine is too noisy to judge speed; the reason is printed above";
    default:
      return "ended with an unknown exit code; please report it";
  }
}

}  // namespace opbench
