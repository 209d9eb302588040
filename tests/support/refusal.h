#pragma once

#include <string>

#include "tensor/error.h"

namespace opbench {

/// What the Error says that `work` throws; "accepted" if it throws none.
template <class Work>
std::string refusal_by(const Work& work) {
  try {
    work();
    return "accepted";
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace opbench
