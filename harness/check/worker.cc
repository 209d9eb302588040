#include "harness/check/worker.h"

#include <cstdlib>
#include <istream>
#include <optional>
#include <ostream>
#include <span>
#include <string>

#include "harness/check/open_case.h"
#include "harness/check/own_code.h"
#include "harness/check/protocol.h"
#include "harness/plan/context_id.h"
#include "harness/plan/work_unit.h"
#include "harness/run/machine.h"
#include "tensor/error.h"
#include "tensor/processor.h"
#include "workers/interrupt.h"

namespace opbench::check {
namespace {

// Values of the symbols of a context's file, by --set or by the id of the context.
Symbols symbols_of(const CaseSelection& selection, const PlannedContext& planned) {
  for (const std::string& id : selection.case_ids) {
    if (id == planned.id()) return parse_context_id(id)->symbols;
  }
  return selection.symbols;
}

std::optional<ExpectedFailure> expectation_of(const Case& c) {
  const std::optional<ExpectedFailure>& expected = c.expected_failure;
  if (!expected || !expected->is_of(c.dtype)) return std::nullopt;
  return ExpectedFailure{expected->variants, {}, expected->reason};
}

ListedCase listed(const Case& c, const CaseSelection& selection) {
  return {case_id(c),
          case_key(c),
          c.name,
          c.count,
          selection.variants.empty() ? c.variants : selection.variants,
          c.threshold,
          {},
          expectation_of(c)};
}

ListedCase listed(const PlannedContext& planned, const CaseSelection& selection) {
  ListedCase listed;
  listed.id = listed.key = planned.id();
  const std::string& origin = planned.spec.origin;  // "file:line"
  listed.context = ContextSource{origin.substr(0, origin.rfind(':')), planned.spec.name,
                                 planned.dtype, symbols_of(selection, planned)};
  for (const PlannedStep& step : planned.steps) listed.variants.push_back(step.spec.name);
  return listed;
}

std::vector<ListedCase> list_cases(const CaseSelection& selection) {
  std::vector<ListedCase> cases;
  for (const WorkUnit& unit : make_plan(selection)) {
    cases.push_back(unit.is_context() ? listed(*unit.context, selection)
                                      : listed(unit.planned_case->spec, selection));
  }
  return cases;
}

class Worker {
 public:
  /// The answer to one request.
  std::string answer(const std::string& line) {
    try {
      const Request request = parse_request(line);
      switch (request.kind) {
        case Request::list:
          return listed_line(list_cases(request.selection));
        case Request::open:
          return open(request.open_it);
        case Request::sample:
          if (!open_) throw Error("no case is open");
          return sampled_line(open_->sample(request.variant, request.layout));
        case Request::code:
          if (!open_) throw Error("no case is open");
          return coded_line(code(request.variant));
        case Request::close:
          open_.reset();
          return closed_line();
      }
      return error_line("unknown request");
    } catch (const std::exception& error) {
      return error_line(error.what());
    }
  }

 private:
  std::string open(const OpenRequest& request) {
    open_.reset();  // closed first, so that two cases are never in memory at the same time
    select_isa(request.isa.empty() ? supported_isas().front() : request.isa);
    open_.emplace(request);
    return opened_line(open_->reply());
  }

  CodeReply code(const std::string& variant) {
    const std::span<const Kernel* const> kernels = open_->kernels(variant);
    try {
      return {own_code(kernels) + "+" + open_->plan_hash(variant), ""};
    } catch (const Error& error) {
      return {"", error.what()};
    }
  }

  std::optional<OpenCase> open_;
};

Hello hello() {
  const Machine m = describe_machine();
  return {.build = {m.version, m.revision, m.compiler, m.flags, m.build_type}};
}

}  // namespace

void run_worker(std::istream& in, std::ostream& out) {
  // Verbose output of oneDNN would disturb the protocol.
  for (const char* verbose : {"DNNL_VERBOSE", "ONEDNN_VERBOSE", "MKLDNN_VERBOSE"}) {
    unsetenv(verbose);
  }
  out << hello_line(hello()) << std::endl;
  Worker worker;
  for (std::string line; !interrupted() && std::getline(in, line);) {
    out << worker.answer(line) << std::endl;
  }
}

}  // namespace opbench::check
