#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "profiles/line_reader.h"

namespace opbench {

/// An event of a Chrome trace. Texts are valid until the next one; numbers are as written, so that
/// times keep their digits; lists and objects are JSON. Empty where the event has none.
struct TraceEvent {
  char phase = 0;  ///< 'X': has a duration; 's', 'f': ends of an arrow; 'M': names a process
  std::string_view name, category, process, thread, id;
  std::string_view start_us, duration_us;
  // Of its arguments:
  std::string_view task_type, stream, labels;
  std::string_view external_id, correlation, connection;
  std::string_view input_dims, input_types, concrete_inputs;
};

/// What a file of JSON is, by its beginning.
enum class TraceKind { none, trace, execution_trace };
TraceKind recognise_trace(std::string_view beginning);

/// A longer event has lost a quote or a bracket.
inline constexpr std::size_t kLongestEvent = std::size_t{1} << 20;

/// The events of a Chrome trace in one pass: a list, or an object with the list "traceEvents", with
/// or without their end. An event that is no JSON is skipped, and reading goes on with the next
/// object behind its beginning.
class TraceReader {
 public:
  TraceReader(ByteWindow window, std::string file);
  ~TraceReader();

  /// The next event. Returns false at the end.
  bool next();
  const TraceEvent& event() const { return event_; }
  /// The line on which the event begins, from 1 on.
  std::int64_t line() const { return line_; }
  /// Leaves the event out for a reason of the caller's.
  void skip(const std::string& reason) { skipped_.add(line_, reason); }
  const SkippedLines& skipped() const { return skipped_; }

 private:
  struct Parser;

  void find_list();
  bool find_object();
  void drop(std::size_t bytes);
  bool scan_object();
  void recover(const std::string& reason);

  ByteWindow window_;
  SkippedLines skipped_;
  std::unique_ptr<Parser> parser_;
  TraceEvent event_;
  std::int64_t line_ = 1;
  std::size_t length_ = 0;  ///< of the object at the beginning of the window
  std::int64_t lines_inside_ = 0;
  std::size_t read_again_ = 0;  ///< bytes that were looked at more than once
  bool is_begun_ = false, is_object_ = false, is_ended_ = false;
};

}  // namespace opbench
