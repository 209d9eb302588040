#pragma once

#include <gtest/gtest.h>

#include <string>

#include "tensor/error.h"

namespace opbench {

/// Returns the message of the Error that `work` throws; "accepted" if it throws no Error.
template <class Work>
std::string refusal_by(const Work& work) {
  try {
    work();
    return "accepted";
  } catch (const Error& error) {
    return error.what();
  }
}

/// Like refusal_of, for external input. A RunError, which reports a failure of the machine, fails
/// the test.
template <class Work>
std::string bad_input_by(const Work& work) {
  try {
    work();
  } catch (const RunError& error) {
    ADD_FAILURE() << "not bad input: " << error.what();
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace opbench
