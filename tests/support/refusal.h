#pragma once

#include <gtest/gtest.h>

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

/// The same for input from outside, where a RunError, which blames the machine, fails the test.
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
