#include <cstdint>
#include <string_view>

#include "harness/plan/case.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace opbench;
  Case c;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (!succeeds([&] { c = parse_case_id(text); })) return 0;
  const std::string id = case_id(c);
  Case again;
  require(succeeds([&] { again = parse_case_id(id); }), "an id that was written can be read", id);
  require(case_id(again) == id, "reading an id back gives the same id", case_id(again));
  succeeds([&] { problem_of(c); }, "case '");
  return 0;
}
