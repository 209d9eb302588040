#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "profiles/trace_profile.h"

namespace opbench {
namespace {

namespace json = simdjson::ondemand;

constexpr std::string_view kList = "\"traceEvents\"";

bool is_json_space(char letter) {
  return letter == ' ' || letter == '\t' || letter == '\r' || letter == '\n';
}

std::size_t skip_blanks(std::string_view text, std::size_t at) {
  while (at < text.size() && is_json_space(text[at])) ++at;
  return at;
}

std::string_view without_mark(std::string_view text) {
  return text.starts_with(kByteOrderMark) ? text.substr(kByteOrderMark.size()) : text;
}

// The place after the "[" of "traceEvents": [; npos if there is no such list.
std::size_t list_begin(std::string_view text) {
  for (std::size_t at = text.find(kList); at != text.npos; at = text.find(kList, at + 1)) {
    std::size_t after = skip_blanks(text, at + kList.size());
    if (after == text.size() || text[after] != ':') continue;
    after = skip_blanks(text, after + 1);
    if (after < text.size() && text[after] == '[') return after + 1;
  }
  return text.npos;
}

// Names of kernels contain braces, too: "{lambda(int)#1}".
bool begins_object(std::string_view text, std::size_t at) {
  const std::size_t key = skip_blanks(text, at + 1);
  return key == text.size() || text[key] == '"';
}

using EventText = std::string_view TraceEvent::*;

constexpr std::pair<std::string_view, EventText> kFields[] = {
    {"name", &TraceEvent::name},  {"cat", &TraceEvent::category}, {"pid", &TraceEvent::process},
    {"tid", &TraceEvent::thread}, {"ts", &TraceEvent::start_us},  {"dur", &TraceEvent::duration_us},
    {"id", &TraceEvent::id},
};
constexpr std::pair<std::string_view, EventText> kArguments[] = {
    {"Task Type", &TraceEvent::task_type},
    {"Physic Stream Id", &TraceEvent::stream},
    {"Stream Id", &TraceEvent::stream},
    {"stream", &TraceEvent::stream},
    {"labels", &TraceEvent::labels},
    {"name", &TraceEvent::process_name},
    {"External id", &TraceEvent::external_id},
    {"external id", &TraceEvent::external_id},
    {"correlation", &TraceEvent::correlation},
    {"correlation_id", &TraceEvent::correlation},
    {"connection_id", &TraceEvent::connection},
    {"Input Dims", &TraceEvent::input_dims},
    {"Input type", &TraceEvent::input_types},
    {"Concrete Inputs", &TraceEvent::concrete_inputs},
};

template <std::size_t N>
const EventText* find_field(const std::pair<std::string_view, EventText> (&fields)[N],
                            std::string_view key) {
  for (const auto& [name, text] : fields) {
    if (name == key) return &text;
  }
  return nullptr;
}

// Strings lose their quotes; other values stay as written.
bool token_text(json::value value, std::string_view& text) {
  json::json_type type{};
  if (value.type().get(type)) return false;
  if (type == json::json_type::string) return !value.get_string().get(text);
  if (type == json::json_type::array) {
    json::array list;
    return !value.get_array().get(list) && !list.raw_json().get(text);
  }
  if (type == json::json_type::object) {
    json::object object;
    return !value.get_object().get(object) && !object.raw_json().get(text);
  }
  text = value.raw_json_token();
  while (!text.empty() && is_json_space(text.back())) text.remove_suffix(1);
  return true;
}

bool read_arguments(json::value value, TraceEvent& event) {
  json::json_type type{};
  if (value.type().get(type)) return false;
  if (type != json::json_type::object) return true;
  json::object arguments;
  if (value.get_object().get(arguments)) return false;
  for (auto field : arguments) {
    std::string_view key;
    if (field.unescaped_key().get(key)) return false;
    const EventText* to = find_field(kArguments, key);
    json::value of;
    if (to == nullptr) continue;
    if (field.value().get(of) || !token_text(of, event.*(*to))) return false;
  }
  return true;
}

}  // namespace

struct TraceReader::Parser {
  json::parser parser;

  // The text must have the slack of a window after it.
  bool parse(std::string_view text, TraceEvent& event) {
    event = {};
    json::document document;
    json::object fields;
    const simdjson::padded_string_view padded(text, text.size() + ByteWindow::kSlack);
    if (parser.iterate(padded).get(document) || document.get_object().get(fields)) return false;
    for (auto field : fields) {
      std::string_view key;
      json::value value;
      if (field.unescaped_key().get(key) || field.value().get(value)) return false;
      if (key == "ph") {
        std::string_view phase;
        if (!token_text(value, phase)) return false;
        event.phase = phase.empty() ? '\0' : phase.front();
      } else if (key == "args") {
        if (!read_arguments(value, event)) return false;
      } else if (const EventText* to = find_field(kFields, key)) {
        if (!token_text(value, event.*(*to))) return false;
      }
    }
    return true;
  }
};

static_assert(ByteWindow::kSlack >= simdjson::SIMDJSON_PADDING);

TraceKind recognise_trace(std::string_view beginning) {
  const std::string_view text = without_mark(beginning);
  const std::size_t at = skip_blanks(text, 0);
  if (at == text.size()) return TraceKind::none;
  if (text[at] == '{') {
    if (list_begin(text) != text.npos) return TraceKind::trace;
    const bool has_nodes = text.find("\"nodes\"") != text.npos;
    return has_nodes && text.find("\"schema\"") != text.npos ? TraceKind::execution_trace
                                                             : TraceKind::none;
  }
  if (text[at] != '[') return TraceKind::none;
  const std::size_t first = skip_blanks(text, at + 1);
  const bool is_object = first < text.size() && text[first] == '{';
  return is_object && text.find("\"ph\"") != text.npos ? TraceKind::trace : TraceKind::none;
}

TraceReader::TraceReader(ByteWindow window, std::string file)
    : window_(std::move(window)), skipped_(std::move(file)), parser_(std::make_unique<Parser>()) {}
TraceReader::~TraceReader() = default;

void TraceReader::drop(std::size_t bytes) {
  const auto text = window_.text();
  line_ += std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(bytes), '\n');
  window_.consume(bytes);
}

// Only a few properties of devices precede the list.
void TraceReader::find_list() {
  is_begun_ = true;
  while (true) {
    const std::string_view text(window_.text().data(), window_.text().size());
    const std::size_t begin = skip_blanks(text, text.size() - without_mark(text).size());
    is_object_ = begin < text.size() && text[begin] == '{';
    const std::size_t at = is_object_                                  ? list_begin(text)
                           : begin < text.size() && text[begin] == '[' ? begin + 1
                                                                       : text.npos;
    if (at != text.npos) return drop(at);
    if (text.size() > kLongestEvent || !window_.more()) {
      is_ended_ = true;
      return;
    }
  }
}

// Moves the next "{" to the beginning of the window.
bool TraceReader::find_object() {
  while (true) {
    const auto text = window_.text();
    std::size_t at = 0;
    while (at < text.size() && (is_json_space(text[at]) || text[at] == ',')) ++at;
    const bool is_found = at < text.size();
    const char letter = is_found ? text[at] : '\0';
    drop(at);
    if (!is_found) {
      if (window_.more()) continue;
      if (is_object_) skip("the trace ends before its list of events does");
      return false;
    }
    if (letter == '{') return true;
    if (letter == ']') return false;
    recover("text that is not an event");
    if (window_.text().empty()) return false;
  }
}

// Measures the object at the beginning of the window. Returns false if it has no end.
bool TraceReader::scan_object() {
  std::size_t at = 0;
  int depth = 0;
  bool is_string = false;
  lines_inside_ = 0;
  while (true) {
    const auto text = window_.text();
    for (; at < text.size(); ++at) {
      const char letter = text[at];
      if (is_string) {
        if (letter == '\\') {
          if (at + 1 == text.size()) break;
          ++at;
        } else {
          is_string = letter != '"';
        }
        continue;
      }
      if (letter == '"') {
        is_string = true;
      } else if (letter == '\n') {
        ++lines_inside_;
      } else if (letter == '{' || letter == '[') {
        ++depth;
      } else if ((letter == '}' || letter == ']') && --depth == 0) {
        length_ = at + 1;
        return true;
      }
    }
    length_ = at;
    if (at > kLongestEvent || !window_.more()) return false;
  }
}

// Drops the beginning of damaged text, up to a possible start of an object: after "," or "[", or on
// a line by itself.
void TraceReader::recover(const std::string& reason) {
  skip(reason);
  const bool is_believed = read_again_ <= kMostReadAgain;
  read_again_ += length_;
  drop(is_believed ? 1 : std::max<std::size_t>(1, length_));
  length_ = 0;
  char before = '\0';
  while (true) {
    const std::string_view text(window_.text().data(), window_.text().size());
    for (std::size_t at = 0; at < text.size(); ++at) {
      const bool may_begin = before == ',' || before == '[' || before == '\n' || before == '}';
      if (text[at] == '{' && may_begin && begins_object(text, at)) return drop(at);
      if (!is_json_space(text[at]) || text[at] == '\n') before = text[at];
    }
    drop(text.size());
    if (!window_.more()) return;
  }
}

bool TraceReader::next() {
  if (!is_begun_) find_list();
  if (is_ended_) return false;
  window_.consume(std::exchange(length_, 0));
  line_ += std::exchange(lines_inside_, 0);
  while (find_object()) {
    const bool is_whole = scan_object();
    const std::string_view text(window_.text().data(), length_);
    if (is_whole && parser_->parse(text, event_)) return true;
    lines_inside_ = 0;
    recover(is_whole                  ? "an event that is not JSON"
            : length_ > kLongestEvent ? "an event that does not end within 1 MiB"
                                      : "the trace ends inside an event");
  }
  is_ended_ = true;
  return false;
}

}  // namespace opbench
