#pragma once

#include <string>

#include "harness/record.h"

namespace opbench {

// How the reports for people, console and Markdown, write the same things.

/// "12.34 us", "1.234 ms".
std::string time_text(double us);
/// "2", "9e+08"; "-" where nothing was compared.
std::string ulp_text(const Record& record);
/// "softplus 8x64x7x7 fp16 NCHW beta=2", long lists shortened.
std::string case_title(const Record& record);
/// The text with lists of more than eight numbers shortened: "sizes=[9408,64,64,... 161 numbers]".
std::string with_short_lists(const std::string& text);

}  // namespace opbench
