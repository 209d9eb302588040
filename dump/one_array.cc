#include "dump/one_array.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>
#include <vector>

#include "dump/stored_visit.h"
#include "tensor/error.h"
#include "tensor/half.h"
#include "text/fitted.h"
#include "text/input_file.h"

namespace opbench {
namespace {

constexpr std::int64_t kPieceBytes = 1 << 20;

// Calls `f` with a value of the elements' C++ type. Supports real numbers except bf16.
template <class F>
void visit_real(StoredType type, F f) {
  bool is_real = false;
  visit_stored(type, [&]<class T>(T value) {
    if constexpr (!std::is_same_v<T, bfloat16>) {
      is_real = true;
      f(value);
    }
  });
  if (!is_real) throw Error(fmt::format("{} cannot be written as text", numpy_name(type)));
}

// The type that a number is printed and parsed in.
template <class T>
auto printed(T value) {
  if constexpr (std::is_same_v<T, half>) {
    return static_cast<float>(value);
  } else if constexpr (sizeof(T) == 1) {
    return static_cast<int>(value);
  } else {
    return value;
  }
}

// The digits of numpy.savetxt for floating numbers; integers keep all of theirs.
template <class T>
void append_number(std::string& text, T value) {
  if constexpr (!std::is_floating_point_v<T>) {
    fmt::format_to(std::back_inserter(text), "{}\n", value);
  } else if (std::isnan(value)) {
    text += "nan\n";  // NumPy prints no sign
  } else {
    fmt::format_to(std::back_inserter(text), "{:.18e}\n", value);
  }
}

template <class T>
bool parse_number(std::string_view text, T& value) {
  if (text.starts_with('+')) text.remove_prefix(1);
  using Parsed = decltype(printed(T()));
  Parsed parsed{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), parsed);
  value = static_cast<T>(parsed);
  const bool is_kept = std::is_same_v<T, half> || sizeof(T) > 1 || printed(value) == parsed;
  return error == std::errc() && end == text.data() + text.size() && is_kept;
}

class Text {
 public:
  explicit Text(const std::filesystem::path& file) : name_(file.string()) {
    constexpr std::size_t kLargest = 1 << 30;
    text_ = read_input_file(name_, "", kLargest);
  }

  TextArray read() {
    for (std::size_t at = 0; at < text_.size(); ++line_) {
      const std::size_t end = std::min(text_.find('\n', at), text_.size());
      add_line(std::string_view(text_).substr(at, end - at));
      at = end + 1;
    }
    const std::int64_t columns = rows_ == 0 ? 0 : numbers_ / rows_;
    if (!stated_) {
      array_.shape = rows_ == 1 || columns == 1 ? Dims{numbers_} : Dims{rows_, columns};
    } else if (element_count(array_.shape) != numbers_) {
      throw Error(fmt::format("{}: shape: {} needs {} numbers, {} are there", name_,
                              to_string(array_.shape), element_count(array_.shape), numbers_));
    }
    return std::move(array_);
  }

 private:
  [[noreturn]] void fail(const std::string& reason) const {
    throw Error(fmt::format("{}:{}: {}", name_, line_, reason));
  }

  void add_line(std::string_view line) {
    const std::size_t comment = line.find('#');
    if (comment == 0 && numbers_ == 0) read_comment(line.substr(1));
    line = line.substr(0, comment);
    constexpr std::string_view kBlanks = " \t\r,";
    std::int64_t count = 0;
    for (std::size_t at = line.find_first_not_of(kBlanks); at != line.npos; ++count) {
      const std::size_t end = std::min(line.find_first_of(kBlanks, at), line.size());
      add_number(line.substr(at, end - at));
      at = line.find_first_not_of(kBlanks, end);
    }
    if (count == 0) return;
    ++rows_;
    if (!stated_ && count * rows_ != numbers_) {
      fail(fmt::format("{} numbers, but {} in the lines before", count,
                       (numbers_ - count) / (rows_ - 1)));
    }
  }

  // Parses " float32 2x3"; ignores other comments.
  void read_comment(std::string_view comment) {
    if (comment.starts_with(' ')) comment.remove_prefix(1);
    if (comment.ends_with('\r')) comment.remove_suffix(1);
    const std::size_t blank = comment.find(' ');
    const StoredType type = parse_numpy_name(comment.substr(0, blank));
    if (type == StoredType::none || blank == comment.npos) return;
    try {
      array_.shape = parse_dims(comment.substr(blank + 1));
    } catch (const Error& error) {
      fail(error.what());
    }
    array_.type = type;
    stated_ = true;
  }

  void add_number(std::string_view text) {
    visit_real(array_.type, [&](auto value) {
      if (!parse_number(text, value)) {
        constexpr std::size_t kLongest = 40;
        fail(fmt::format("found '{}', expected a number of {}", excerpt(text, kLongest),
                         numpy_name(array_.type)));
      }
      const std::size_t at = array_.elements.size();
      array_.elements.resize(at + sizeof value);
      std::memcpy(array_.elements.data() + at, &value, sizeof value);
    });
    ++numbers_;
  }

  std::string name_, text_;
  TextArray array_;
  bool stated_ = false;
  std::int64_t line_ = 1, rows_ = 0, numbers_ = 0;
};

}  // namespace

StoredType written_type(StoredType type) {
  return type == StoredType::bf16 ? StoredType::f32 : type;
}

void for_each_piece(StoredType type, std::int64_t elements, const ReadElements& read,
                    const std::function<void(const void* elements, std::size_t bytes)>& use) {
  const auto bytes = static_cast<std::int64_t>(size_of(type));
  const std::int64_t most = kPieceBytes / bytes;
  std::vector<std::byte> piece(static_cast<std::size_t>(std::min(elements, most) * bytes));
  std::vector<float> widened;
  for (std::int64_t first = 0; first < elements; first += most) {
    const std::int64_t count = std::min(most, elements - first);
    read({first, count}, piece.data());
    if (type != StoredType::bf16) {
      use(piece.data(), static_cast<std::size_t>(count * bytes));
      continue;
    }
    widened.resize(static_cast<std::size_t>(count));
    widen(reinterpret_cast<const bfloat16*>(piece.data()), widened.data(), widened.size());
    use(widened.data(), widened.size() * sizeof(float));
  }
}

void write_npy(const std::filesystem::path& file, StoredType type, const Dims& shape,
               const ReadElements& read) {
  NpyWriter writer(file, written_type(type), shape);
  for_each_piece(type, element_count(shape), read,
                 [&](const void* elements, std::size_t bytes) { writer.write(elements, bytes); });
  writer.finish();
}

void write_bin(const std::filesystem::path& file, StoredType type, const Dims& shape,
               const ReadElements& read) {
  TemporaryFile output(file);
  for_each_piece(type, element_count(shape), read, [&](const void* elements, std::size_t bytes) {
    output.write(elements, bytes);
    output.check();
  });
  output.commit();
}

void write_txt(const std::filesystem::path& file, StoredType type, const Dims& shape,
               const ReadElements& read) {
  const StoredType written = written_type(type);
  visit_real(written, [](auto) {});  // throws for unsupported types before a file is created
  TemporaryFile output(file);
  const std::string head = fmt::format("# {} {}\n", numpy_name(written), to_string(shape));
  output.write(head.data(), head.size());
  std::string text;
  for_each_piece(type, element_count(shape), read, [&](const void* elements, std::size_t bytes) {
    text.clear();
    visit_real(written, [&](auto value) {
      for (std::size_t at = 0; at < bytes; at += sizeof value) {
        std::memcpy(&value, static_cast<const std::byte*>(elements) + at, sizeof value);
        append_number(text, printed(value));
      }
    });
    output.write(text.data(), text.size());
    output.check();
  });
  output.commit();
}

TextArray read_txt(const std::filesystem::path& file) { return Text(file).read(); }

StoredType parse_numpy_name(std::string_view name) {
  for (int type = 1; type <= static_cast<int>(StoredType::c128); ++type) {
    if (numpy_name(static_cast<StoredType>(type)) == name) return static_cast<StoredType>(type);
  }
  return StoredType::none;
}

}  // namespace opbench
