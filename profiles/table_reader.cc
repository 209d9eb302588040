#include "profiles/table_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

namespace opbench {
namespace {

bool is_blank(char letter) { return letter == ' ' || letter == '\t' || letter == '\r'; }

// Finds the first "," or line end, eight bytes at a time. A byte of `odd` is zero where the letter
// is. The subtraction borrows only above a zero byte, so the lowest bit found is correct.
const char* find_cell_end(const char* place, const char* end) {
  constexpr std::uint64_t kOnes = 0x0101010101010101, kHigh = 0x80 * kOnes;
  const auto marks = [](std::uint64_t word, char letter) {
    const std::uint64_t odd = word ^ (kOnes * static_cast<unsigned char>(letter));
    return (odd - kOnes) & ~odd & kHigh;
  };
  if constexpr (std::endian::native == std::endian::little) {
    for (std::uint64_t word = 0; end - place >= 8; place += 8) {
      std::memcpy(&word, place, sizeof word);
      const std::uint64_t found = marks(word, ',') | marks(word, '\n');
      if (found != 0) return place + std::countr_zero(found) / 8;
    }
  }
  while (place != end && *place != ',' && *place != '\n') ++place;
  return place;
}

}  // namespace

void TableReader::skip_mark() {
  is_begun_ = true;
  while (window_.text().size() < kByteOrderMark.size() && window_.more()) {
  }
  const auto text = window_.text();
  if (std::string_view(text.data(), text.size()).starts_with(kByteOrderMark))
    window_.consume(kByteOrderMark.size());
}

// Parses a quoted cell. A quote closes it before a separator or the end of the line; other quotes
// are part of the text. Returns the place after the cell, or nothing if the text ends inside it.
std::optional<std::size_t> TableReader::parse_quoted(std::size_t at) {
  RawCell cell{at + 1, 0, false};
  const bool is_all = window_.is_at_end();
  for (std::size_t i = at + 1; i < text_.size(); ++i) {
    if (text_[i] == '\n') {
      if (newline_ends_cells_) {
        is_closed_ = false;
        cells_.push_back({cell.begin, i, cell.has_doubled_quotes});
        return i;
      }
      ++lines_inside_;
    }
    if (text_[i] != '"') continue;
    if (i + 1 < text_.size() && text_[i + 1] == '"') {
      cell.has_doubled_quotes = true;
      ++i;
      continue;
    }
    std::size_t after = i + 1;
    while (after < text_.size() && is_blank(text_[after])) ++after;
    if (after == text_.size() && !is_all) return std::nullopt;
    if (after == text_.size() || text_[after] == ',' || text_[after] == '\n') {
      cell.end = i;
      cells_.push_back(cell);
      return after;
    }
  }
  is_closed_ = false;
  if (!is_all) return std::nullopt;
  cell.end = text_.size();
  cells_.push_back(cell);
  return text_.size();
}

std::optional<std::size_t> TableReader::parse_plain(std::size_t at) {
  const char* const begin = text_.data();
  const char* const end = begin + text_.size();
  const char* const place = find_cell_end(begin + at, end);
  if (place == end && !window_.is_at_end()) return std::nullopt;
  cells_.push_back({at, static_cast<std::size_t>(place - begin), false});
  return place - begin;
}

// Parses the record at `at`. Returns the place after its end of line, or nothing if the text ends
// before.
std::optional<std::size_t> TableReader::parse_record(std::size_t at) {
  cells_.clear();
  lines_inside_ = 0;
  is_closed_ = true;
  while (true) {
    const bool is_quoted = at < text_.size() && text_[at] == '"';
    const std::optional<std::size_t> after = is_quoted ? parse_quoted(at) : parse_plain(at);
    if (!after) return std::nullopt;
    if (*after == text_.size()) return *after;
    at = *after + 1;
    if (text_[*after] == '\n') return at;
  }
}

// True if a line inside the record is a row by itself: the line before it was truncated inside its
// quotes.
bool TableReader::holds_whole_row(std::size_t length) {
  const std::vector<RawCell> cells = cells_;
  const std::int64_t lines = lines_inside_;
  newline_ends_cells_ = true;
  bool is_found = false;
  for (std::size_t at = 0; at + 1 < length && !is_found; ++at) {
    if (text_[at] != '\n') continue;
    const bool is_row = parse_record(at + 1).has_value() && cells_.size() == columns_;
    is_found = is_row && is_closed_ && std::none_of(cells_.begin(), cells_.end(), [&](auto& cell) {
                 const auto text = text_.subspan(cell.begin, cell.end - cell.begin);
                 return text_[cell.begin - 1] != '"' &&
                        std::find(text.begin(), text.end(), '"') != text.end();
               });
  }
  newline_ends_cells_ = read_again_ > kMostReadAgain;
  cells_ = cells;
  lines_inside_ = lines;
  is_closed_ = true;
  return is_found;
}

void TableReader::skip_line(const std::string& reason) {
  skipped_.add(line_, reason);
  read_again_ += text_.size();
  newline_ends_cells_ = read_again_ > kMostReadAgain;
  while (true) {
    const auto text = window_.text();
    const void* found = std::memchr(text.data(), '\n', text.size());
    if (found != nullptr) {
      window_.consume(static_cast<const char*>(found) - text.data() + 1);
      ++line_;
      return;
    }
    window_.consume(text.size());
    if (!window_.more()) return;
  }
}

// Returns true for a record to give out. Otherwise it skips the record or its first line.
bool TableReader::is_accepted(std::size_t length) {
  while (columns_ && cells_.size() > *columns_ && cell(cells_.size() - 1).empty()) {
    cells_.pop_back();
  }
  const bool has_columns = !columns_ || cells_.size() == *columns_;
  const bool is_cut = lines_inside_ > 0 && columns_ && (!has_columns || holds_whole_row(length));
  if (!is_closed_ || is_cut) {
    text_ = text_.first(length);
    skip_line("a quoted cell does not end on its line");
    return false;
  }
  consumed_ = length;
  if (cells_.size() == 1 && cell(0).empty()) return false;
  if (has_columns) return true;
  skip(fmt::format("{} cells where the header has {}", cells_.size(), *columns_));
  return false;
}

bool TableReader::next() {
  if (!is_begun_) skip_mark();
  while (true) {
    if (consumed_ > 0) {
      window_.consume(consumed_);
      line_ += lines_inside_ + 1;
      consumed_ = 0;
    }
    if (window_.text().empty() && !window_.more()) return false;
    text_ = window_.text();
    const std::optional<std::size_t> length = parse_record(0);
    if (length) {
      if (is_accepted(*length)) return true;
    } else if (text_.size() > kLongestRecord) {
      skip_line(fmt::format("a record does not end within {} MiB", kLongestRecord >> 20));
    } else {
      window_.more();
    }
  }
}

std::string_view TableReader::cell(std::size_t index) {
  if (index >= cells_.size()) return {};
  RawCell& cell = cells_[index];
  if (cell.has_doubled_quotes) {
    std::size_t to = cell.begin;
    for (std::size_t from = cell.begin; from < cell.end; ++from) {
      text_[to++] = text_[from];
      if (text_[from] == '"' && from + 1 < cell.end && text_[from + 1] == '"') ++from;
    }
    cell.end = to;
    cell.has_doubled_quotes = false;
  }
  std::string_view text(text_.data() + cell.begin, cell.end - cell.begin);
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace opbench
