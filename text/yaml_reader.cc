#include "text/yaml_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <optional>
#include <set>

#include "tensor/error.h"
#include "text/fitted.h"

namespace opbench {
namespace {

template <class T>
std::optional<T> parse_whole(const std::string& text) {
  T value{};
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

constexpr std::size_t kLongestYaml = 60;  // bytes of a text in a message

std::string yaml_kind(const YAML::Node& node) {
  if (node.IsSequence()) return "a list";
  if (node.IsMap()) return "a mapping";
  if (node.IsScalar()) return fmt::format("'{}'", excerpt(node.Scalar(), kLongestYaml));
  return "nothing";
}

void check_nesting(const std::string& text, const std::string& path) {
  // yaml-cpp recurses per nesting level. Case files need few levels.
  constexpr int kDeepestNesting = 64;
  int depth = 0, line = 1;
  for (const char letter : text) {
    line += letter == '\n';
    depth += (letter == '[' || letter == '{') - (letter == ']' || letter == '}');
    if (depth > kDeepestNesting) {
      throw Error(
          fmt::format("{}:{}: brackets are nested more than {} deep", path, line, kDeepestNesting));
    }
  }
}

bool is_marker(std::string_view line, std::string_view marker) {
  return line.starts_with(marker) &&
         (line.size() == marker.size() ||
          std::string_view(" \t\r").find(line[marker.size()]) != std::string_view::npos);
}

// Rejects several documents, because YAML::Load reads only the first and ignores the rest. Document
// markers are at the start of a line, where no scalar may have them (YAML 1.2, section 9.1.2).
void check_is_one_document(std::string_view text, const std::string& path) {
  bool has_begun = false, has_ended = false;
  for (int line = 1; !text.empty(); ++line) {
    const std::string_view content = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), content.size() + 1));
    const bool is_blank = content.find_first_not_of(" \t\r") == content.npos;
    if (is_blank || content.front() == '#' || (content.front() == '%' && !has_begun)) continue;
    const bool is_start = is_marker(content, "---"), is_end = is_marker(content, "...");
    if (has_ended ? !is_end : is_start && has_begun) {
      throw Error(fmt::format("{}:{}: a second document begins; a file has one", path, line));
    }
    has_begun = true;
    has_ended |= is_end;
  }
}

// Returns the first line indented by a tab, from 1; 0 without such a line.
int line_of_tab(std::string_view text) {
  for (int line = 1; !text.empty(); ++line) {
    const std::string_view content = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), content.size() + 1));
    const std::string_view blank = content.substr(0, content.find_first_not_of(" \t"));
    if (blank.size() < content.size() && blank.find('\t') != blank.npos) return line;
  }
  return 0;
}

/// A bracket that is not closed.
struct OpenBracket {
  char letter = 0;
  int line = 0;
};

// Finds the last open bracket. Brackets in quotes and comments are ignored.
std::optional<OpenBracket> open_bracket(std::string_view text) {
  std::vector<OpenBracket> open;
  char quote = 0, last = '\n';
  bool is_comment = false;
  int line = 1;
  for (const char letter : text) {
    if (letter == '\n') is_comment = false;
    const bool begins_comment = letter == '#' && quote == 0 && (last == ' ' || last == '\n');
    is_comment = is_comment || begins_comment;
    if (quote != 0) {
      if (letter == quote) quote = 0;
    } else if (!is_comment) {
      if (letter == '\'' || letter == '"') quote = letter;
      if (letter == '[' || letter == '{') open.push_back({letter, line});
      if ((letter == ']' || letter == '}') && !open.empty()) open.pop_back();
    }
    line += letter == '\n';
    last = letter;
  }
  return open.empty() ? std::nullopt : std::optional(open.back());
}

// Rewords the two most frequent errors; other errors keep yaml-cpp's text.
std::string yaml_error(const std::string& text, const std::string& path,
                       const YAML::Exception& error) {
  if (const int line = line_of_tab(text); line > 0) {
    return fmt::format("{}:{}: a tab indents this line; YAML allows spaces only", path, line);
  }
  if (const auto bracket = open_bracket(text)) {
    return fmt::format("{}:{}: the '{}' of this line is not closed", path, bracket->line,
                       bracket->letter);
  }
  return fmt::format("{}:{}: not YAML: {}", path, error.mark.line + 1, error.msg);
}

}  // namespace

std::string YamlValue::place() const { return fmt::format("{}:{}", *path_, node_.Mark().line + 1); }

void YamlValue::fail(const std::string& message) const { throw Error(place(), message); }

void YamlValue::fail_type(std::string_view what, std::string_view wanted) const {
  fail(fmt::format("{} is {}; it must be {}", what, yaml_kind(node_), wanted));
}

std::string YamlValue::text(std::string_view what) const {
  constexpr std::size_t kLongest = 256;  // bytes
  if (!node_.IsScalar() || node_.Scalar().size() > kLongest) {
    fail_type(what, fmt::format("a word of at most {} bytes", kLongest));
  }
  return node_.Scalar();
}

std::int64_t YamlValue::integer(std::string_view what, std::int64_t least,
                                std::int64_t most) const {
  const auto value = node_.IsScalar() ? parse_whole<std::int64_t>(node_.Scalar()) : std::nullopt;
  if (!value || *value < least || *value > most) {
    fail_type(what, fmt::format("a whole number from {} to {}", least, most));
  }
  return *value;
}

double YamlValue::number(std::string_view what, double least, double most) const {
  double value = 0;
  const std::string text = node_.IsScalar() ? node_.Scalar() : std::string();
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_number = status == std::errc{} && end == text.data() + text.size();
  if (!is_number || !(value >= least && value <= most)) {
    fail_type(what, fmt::format("a number from {} to {}", least, most));
  }
  return value;
}

std::uint64_t YamlValue::seed(std::string_view what) const {
  const auto value = node_.IsScalar() ? parse_whole<std::uint64_t>(node_.Scalar()) : std::nullopt;
  if (!value) fail_type(what, "a whole number from 0 to 2^64-1");
  return *value;
}

bool YamlValue::boolean(std::string_view what) const {
  if (node_.IsScalar() && node_.Scalar() == "true") return true;
  if (node_.IsScalar() && node_.Scalar() == "false") return false;
  fail_type(what, "true or false");
}

std::vector<YamlValue> YamlValue::list(std::string_view what, bool or_scalar) const {
  if (or_scalar && node_.IsScalar()) return {*this};
  if (!node_.IsSequence()) fail_type(what, "a list");
  std::vector<YamlValue> values;
  for (const YAML::Node& element : node_) values.emplace_back(element, path_);
  return values;
}

void YamlValue::mapping(
    std::string_view what,
    const std::function<void(const std::string& key, const YamlValue& value)>& entry) const {
  if (!node_.IsMap()) fail_type(what, "a mapping");
  std::set<std::string> seen;
  for (const auto& pair : node_) {
    const YamlValue key(pair.first, path_);
    const std::string name = key.text(fmt::format("a key of {}", what));
    if (!seen.insert(name).second) key.fail(fmt::format("key '{}' of {} occurs twice", name, what));
    entry(name, YamlValue(pair.second, path_));
  }
}

void YamlValue::mapping(
    std::string_view what, const std::vector<std::string>& allowed,
    const std::function<void(const std::string& key, const YamlValue& value)>& entry) const {
  if (!node_.IsMap())
    fail_type(what, fmt::format("a mapping with the keys {}", fmt::join(allowed, ", ")));
  for (const auto& pair : node_) {
    const YamlValue key(pair.first, path_);
    const std::string name = key.text(fmt::format("a key of {}", what));
    if (std::find(allowed.begin(), allowed.end(), name) == allowed.end()) {
      key.fail(fmt::format("unknown key '{}' in {}{}", excerpt(name, kLongestYaml), what,
                           suggestion(name, allowed)));
    }
  }
  mapping(what, entry);
}

std::string YamlValue::flow_text() const {
  if (node_.IsScalar()) return node_.Scalar();
  if (!node_.IsSequence()) fail_type("a value", "a number, a word or a list");
  std::vector<std::string> parts;
  for (const YamlValue& element : list("a value")) parts.push_back(element.text("a list element"));
  return fmt::format("[{}]", fmt::join(parts, ", "));
}

YamlValue parse_yaml(const std::string& text, const std::string& path) {
  check_nesting(text, path);
  check_is_one_document(text, path);
  try {
    YAML::Node document = YAML::Load(text);
    if (document.IsNull()) document = YAML::Node(YAML::NodeType::Map);
    return YamlValue(document, &path);
  } catch (const YAML::Exception& error) {
    throw Error(yaml_error(text, path, error));
  }
}

}  // namespace opbench
