#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/check/check.h"

namespace opbench::check {

/// An intended change for the worse, from a file of waivers.
struct Waiver {
  std::string place;    ///< "file:line"
  std::string pattern;  ///< matched with an id or a name, like --filter
  std::function<bool(std::string_view)> matches;
  std::string variant;  ///< or step of a context; empty: all
  std::string reason;
  std::string expires;                   ///< "2026-12-31", the last day in UTC
  std::optional<double> slower_percent;  ///< the largest allowed slowdown
  /// The largest allowed errors, as a multiple of the baseline's.
  std::optional<double> error_factor;
  bool allows_gone = false;
};

/// Reads the waivers of a YAML file, in order.
/// Errors: throws Error "file:line: what was found; what is allowed"; without a line if the file
/// cannot be read.
std::vector<Waiver> load_waivers(const std::string& path);

/// Like `load_waivers`, from text. `path` is used in messages.
std::vector<Waiver> parse_waivers(const std::string& text, const std::string& path);

/// Applies the waivers that are valid on the day `today` ("2026-12-31"). A waiver covers an item
/// that is, or may be, SLOWER by no more than allowed in nearly all processes, or whose errors grew
/// by no more than allowed, or that is GONE if allowed. The first waiver that covers an item
/// counts. A change beyond a waiver is noted on its item. Expired waivers and waivers without a
/// match are noted on the report, which is sorted again.
void apply_waivers(CheckReport& report, std::span<const Waiver> waivers, std::string_view today);

/// The first waiver that covers the grown errors of an ERROR, when nothing else is known about the
/// item.
std::optional<WaivedBy> waiver_of_errors(const CheckedItem& item, std::span<const Waiver> waivers,
                                         std::string_view today);

/// Settles an item whose grown errors were waived before it was timed. It becomes that ERROR,
/// unless its speed or another finding is worse. Then the errors become a note.
void settle_waived_errors(CheckedItem& item);

/// "waived until 2026-12-31: the reason (waivers.yaml:3)"
std::string waived_text(const CheckedItem& item);

}  // namespace opbench::check
