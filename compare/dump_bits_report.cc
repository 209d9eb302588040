#include "compare/dump_bits_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

#include "harness/run/invariance_json.h"
#include "text/fitted.h"

namespace opbench {
namespace {

using Json = nlohmann::ordered_json;

bool is_shown(const CallBits& call, bool has_all) {
  return has_all || call.state != InvarianceCell::same;
}

std::string output_text(const OutputBits& output) {
  const Difference& first = output.first;
  return fmt::format("{} of {} differ, first {}: {} and {}, {:g} ULP{}", output.unequal,
                     counted(output.elements, "element"), first.place, first.here, first.there,
                     output.first_ulp, first.how.empty() ? "" : " (" + first.how + ")");
}

void print_call(std::ostream& out, const CallBits& call, std::size_t width) {
  say(out,
      fmt::format("{} /{}/{}{}{}", sign_of(call.state), call.op, call.seq,
                  call.module.empty() ? "" : "  ", call.module),
      2, 2, width);
  for (const OutputBits& output : call.outputs) {
    if (output.differs()) say(out, output_text(output), 6, 2, width);
  }
  if (!call.explanation.empty()) say(out, call.explanation, 6, 2, width);
}

Json output_value(const OutputBits& output) {
  Json value = {{"name", output.name}, {"elements", output.elements}, {"unequal", output.unequal}};
  if (output.differs()) {
    if (!output.first.how.empty()) value["how"] = output.first.how;
    value["place"] = output.first.place;
    value["first"] = output.first.here;
    value["second"] = output.first.there;
    value["ulp"] = output.first_ulp;
  }
  if (!output.reason.empty()) value["reason"] = output.reason;
  return value;
}

Json call_value(const CallBits& call) {
  Json value = {{"op", call.op},           {"seq", call.seq},
                {"module", call.module},   {"state", name(call.state)},
                {"equal_inputs", nullptr}, {"explanation", call.explanation},
                {"outputs", Json::array()}};
  if (call.has_equal_inputs) value["equal_inputs"] = *call.has_equal_inputs;
  for (const OutputBits& output : call.outputs) value["outputs"].push_back(output_value(output));
  return value;
}

}  // namespace

void print_bits(std::ostream& out, const BitComparison& found, std::size_t top, bool has_all,
                std::size_t width) {
  say(out, fmt::format("{} and {}, bit for bit:", found.first, found.second), 0, 2, width);
  if (const CallBits* const first = found.first_difference())
    say(out, fmt::format("first difference: /{}/{}", first->op, first->seq), 0, 2, width);
  std::size_t shown = 0;
  for (const CallBits& call : found.calls) {
    if (!is_shown(call, has_all)) continue;
    if (top > 0 && shown++ == top) {
      out << "  ... more with --top 0\n";
      break;
    }
    print_call(out, call, width);
  }
  using Cell = InvarianceCell;
  say(out,
      fmt::format("{}: {} equal, {} with other bits that are right for their inputs, {} with other "
                  "bits, {} not compared.",
                  counted(found.calls.size(), "operator"), found.count(Cell::same),
                  found.count(Cell::near), found.count(Cell::differs),
                  found.count(Cell::not_applicable)),
      0, 2, width);
}

void write_bits_json(std::ostream& out, const BitComparison& found) {
  Json file = {{"first", found.first},
               {"second", found.second},
               {"partial", found.is_partial},
               {"calls", Json::array()}};
  for (const CallBits& call : found.calls) file["calls"].push_back(call_value(call));
  out << file.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

}  // namespace opbench
