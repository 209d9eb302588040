#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/run/record.h"
#include "harness/run/run_result.h"

// Formats of values in reports for people, shared by the console and Markdown.
namespace opbench::report {

/// Effects of a busy machine on the row: "disturbed, preempted 34 times, outliers 2 of 9"; empty
/// without effects. An outlier took more than 1.5 times the median.
std::string disturbance_text(const Record& record);

/// A line about other work of the machine during the run and its effects; empty without such work.
std::string disturbance_text(const RunResult& result);

/// A unit of time for numbers in one column.
struct TimeUnit {
  const char* name;
  double us;
  int decimals;
};
/// The unit of the shortest of these times, so that it keeps its digits.
TimeUnit unit_for(double shortest_us);
/// The unit of the records' medians; microseconds if no record has a time.
TimeUnit unit_for(std::span<const Record> records);
/// "7.53 us", "1.250 ms", in a suitable unit or in the given one.
std::string time_text(double us);
std::string time_text(double us, const TimeUnit& unit);
/// The median absolute deviation of the times over their median; 0 if the median is 0.
double relative_spread(const Times& times);
/// The standard error of the median over the median, for normally distributed times.
double relative_error(const Times& times);
/// The noise of the median and the number of its samples, for a run that repeated them:
/// "noise 0.8 %, 27 samples", "noise 3 % after 90 samples, above 1 %". Empty for other runs.
std::string noise_text(const Record& record);
/// relative_spread in percent: "4 %"; "-" without times.
std::string spread_text(const Record& record);
/// The record's share of the ceilings: "83 % memory", "41 % compute". "83 %" for a copy alone, in
/// files of older versions; "-" if ceilings were not measured.
std::string roofline_text(const Record& record);
/// The share in roofline_text in percent; 0 if ceilings were not measured.
double percent_of_ceiling(const Record& record);
/// The share of elements within the tolerance, rounded down: "100 %", "99.98 %"; "-" without a
/// comparison.
std::string inside_text(const Record& record);
/// The largest error; "-" without a comparison.
std::string ulp_text(const Record& record);
/// A factor; "-" if there is no factor.
std::string factor_text(double factor);
/// A factor of the record's time; "disturbed" if that time must not be compared (record.h).
std::string ratio_text(const Record& record, double factor);
/// "passed", "FAILED".
std::string status_text(const Record& record);
/// "layer4.0.relu x5"; empty if the case has no name.
std::string name_text(const Record& record);

/// `text` with long lists cut to their first entries: "[9408,64,64,... 161 numbers]". A list is a
/// row of whole numbers or shapes, as in an id. It is long if it has more than eight entries, or
/// more than `longest` characters. For display only: ids are parsed from their whole text.
std::string with_short_lists(std::string_view text,
                             std::size_t longest = std::numeric_limits<std::size_t>::max());

}  // namespace opbench::report
