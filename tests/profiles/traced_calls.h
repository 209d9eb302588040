#pragma once

#include <fmt/format.h>

#include <string>

namespace opbench {

/// An event of a trace with a duration.
inline std::string span(const std::string& category, const std::string& name, int begin,
                        int duration, const std::string& args) {
  return fmt::format(
      R"({{"ph":"X","cat":"{}","name":"{}","pid":{},"tid":7,"ts":{},"dur":{},"args":{{{}}}}},)",
      category, name, category == "kernel" ? 0 : 1, begin, duration, args);
}

/// A call that launches a kernel of 3 us. `inputs` holds its recorded arguments.
inline std::string call(const std::string& name, int number, const std::string& inputs) {
  const int begin = 100 * number;
  return span("cpu_op", name, begin, 50, inputs) +
         span("cuda_runtime", "cudaLaunchKernel", begin + 10, 2,
              fmt::format(R"("correlation":{})", number)) +
         span("kernel", "kernel of " + name, begin + 20, 3,
              fmt::format(R"("device":0,"stream":7,"correlation":{})", number));
}

/// The recorded arguments of a call: shapes, types, and values of numbers. Empty `values` are not
/// recorded.
inline std::string inputs(const std::string& dims, const std::string& types,
                          const std::string& values) {
  std::string text = fmt::format(R"("Input Dims":{},"Input type":{})", dims, types);
  if (!values.empty()) text += R"(,"Concrete Inputs":)" + values;
  return text;
}

inline std::string trace_of(const std::string& events) {
  return "{\"traceEvents\":[" + events + R"({"ph":"M","name":"end","pid":1,"tid":7,"ts":0}]})";
}

}  // namespace opbench
