#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/run/record.h"
#include "harness/run/run_result.h"

// How reports for people write values, so that the console and Markdown agree.
namespace opbench::report {

/// What a busy machine did to the row: "disturbed, preempted 34 times, outliers 2 of 9"; empty
/// where nothing. An outlier took more than 1.5 times the median.
std::string disturbance_text(const Record& record);

/// Whether the machine did other work meanwhile, and how that shows, in one line; empty: it did
/// not.
std::string disturbance_text(const RunResult& result);

/// A unit of time for numbers that stand below one another.
struct TimeUnit {
  const char* name;
  double us;
  int decimals;
};
/// That of the shortest of these times, so that it keeps its digits.
TimeUnit unit_for(double shortest_us);
/// That of the records' medians; microseconds where none was timed.
TimeUnit unit_for(std::span<const Record> records);
/// "7.53 us", "1.250 ms", in the unit that suits it or in the one given.
std::string time_text(double us);
std::string time_text(double us, const TimeUnit& unit);
/// The median absolute deviation of the times over their median; 0 where that is 0.
double relative_spread(const Times& times);
/// Standard error of the median over the median, by normal numbers.
double relative_error(const Times& times);
/// The same in percent: "4 %"; "-" without times.
std::string spread_text(const Record& record);
/// The share of the ceilings that the record has: "83 % memory", "41 % compute"; of a copy alone,
/// in files of older versions, "83 %"; "-" where none was measured.
std::string roofline_text(const Record& record);
/// That share in percent; 0 where none was measured.
double percent_of_ceiling(const Record& record);
/// The share of elements inside the tolerance, rounded down: "100 %", "99.98 %"; "-" where nothing
/// was compared.
std::string inside_text(const Record& record);
/// The largest error, "-" where nothing was compared.
std::string ulp_text(const Record& record);
/// A factor, "-" where there is none.
std::string factor_text(double factor);
/// A factor of the record's time, "disturbed" where that is compared with nothing (record.h).
std::string ratio_text(const Record& record, double factor);
/// "passed", "FAILED".
std::string status_text(const Record& record);
/// "layer4.0.relu x5"; empty if the case has no name.
std::string name_text(const Record& record);

/// `text` with long lists cut to their first entries: "[9408,64,64,... 161 numbers]". A list is a
/// row of whole numbers or shapes, as in an id; long are more than eight entries, or more than
/// `longest` characters. For the eye only: ids are read back from their whole text.
std::string with_short_lists(std::string_view text,
                             std::size_t longest = std::numeric_limits<std::size_t>::max());

}  // namespace opbench::report
