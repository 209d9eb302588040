// Lines sent by the other build of a check, or by the process that starts a worker.
#include <cstdint>
#include <string>

#include "harness/check/protocol.h"
#include "tests/fuzz/fuzz.h"

namespace opbench::check {
namespace {

// The text of an `error` comes from the other side, so it must only not end the process.
template <class Parse>
void accept_any(Parse&& parse) {
  try {
    parse();
  } catch (const WorkerError&) {
  } catch (const Error& error) {
    require_one_line(error.what());
  }
}

// A parsed value can be written and parsed again.
template <class Value, class Parse, class Say>
void round_trip(std::string_view line, Parse&& parse, Say&& say) {
  accept_any([&] {
    const Value value = parse(line);
    const std::string said = say(value);
    require(say(parse(said)) == said, "what is said is understood", said);
  });
}

}  // namespace
}  // namespace opbench::check

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace opbench::check;
  const std::string_view line(reinterpret_cast<const char*>(data), size);
  round_trip<Hello>(line, parse_hello, hello_line);
  round_trip<std::vector<ListedCase>>(line, parse_listed, listed_line);
  round_trip<OpenReply>(line, parse_opened, opened_line);
  round_trip<CodeReply>(line, parse_coded, coded_line);
  accept_any([&] { parse_request(line); });
  accept_any([&] { parse_sampled(line); });
  accept_any([&] { parse_closed(line); });
  return 0;
}
