#pragma once

#include <string_view>

#include "harness/run/record.h"
#include "text/console_colour.h"

namespace opbench::report {

/// What a verdict is printed in.
inline std::string_view status_colour(Status status) {
  switch (status) {
    case Status::passed:
      return kGreen;
    case Status::failed:
    case Status::errored:
      return kRed;
    case Status::mistrusted:
    case Status::suspicious:
    case Status::xfailed:
      return kYellow;
    default:
      return kDim;
  }
}

}  // namespace opbench::report
