#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/plan/case.h"
#include "harness/plan/options.h"
#include "harness/run/record.h"
#include "tensor/error.h"

// What `opbench check` and its workers say to each other: one JSON object a line, over the worker's
// standard input and output. The worker says hello first; then every request has one answer. An
// unknown key is left alone, so that builds of different ages understand each other as long as the
// version of the protocol is one that both speak.
namespace opbench::check {

// Version 2 has contexts: a worker of version 1 would leave them out without a word.
inline constexpr int kProtocolVersion = 2, kOldestProtocol = 2;

/// Which build a worker is.
struct BuildInfo {
  std::string version, revision, compiler, flags, build_type;

  bool operator==(const BuildInfo&) const = default;
};

struct Hello {
  int protocol = kProtocolVersion;
  int oldest = kOldestProtocol;  ///< that this build still speaks
  BuildInfo build;
};

/// Where a worker finds a context, whose id alone does not say it.
struct ContextSource {
  std::string file;  ///< as the selection names it
  std::string name;
  DType dtype = DType::fp32;
  Symbols symbols;  ///< that the selection sets

  bool operator==(const ContextSource&) const = default;
};

/// A case of a plan, or a context: its variants are the context's steps then.
struct ListedCase {
  std::string id;
  /// The id without attributes at their defaults: what a build that knows fewer attributes would
  /// say.
  std::string key;
  std::string name;
  int count = 1;
  std::vector<std::string> variants;  ///< wanted; empty: all
  std::optional<double> threshold;    ///< as a share: 0.05
  std::optional<ContextSource> context = {};
  std::optional<ExpectedFailure> expected_failure = {};  ///< in the case's dtype; of no others

  bool operator==(const ListedCase&) const = default;
};

/// Prepares one case or context in the worker; what was open before is closed.
struct OpenRequest {
  std::string id, key;
  int threads = 1;
  std::vector<std::string> variants;  ///< wanted; empty: all
  bool cold = false;
  bool verify = true;
  /// Where tensors lie within their pages (memory_plan.h); 0: as in a run.
  std::uint64_t layout = 0;
  bool watch = true;  ///< calls are watched while they are timed, and what they leave is judged
  bool first_call =
      false;        ///< samples are first calls: nothing is prepared, and each variant has one
  std::string isa;  ///< empty: the best
  double sample_seconds = 0.02;
  std::optional<ContextSource> context = {};

  bool operator==(const OpenRequest&) const = default;
};

/// What a step of a context converts and copies in one call.
struct Conversions {
  int trans_data = 0;
  double trans_data_bytes = 0;  ///< read and written
  int casts = 0, copies = 0;

  bool operator==(const Conversions&) const = default;
};

Conversions conversions_of(const StepDetails& step);

/// A variant of the open case, or a step of the open context.
struct OpenedVariant {
  std::string name;
  Status status = Status::errored;
  std::string reason;
  /// What check compares goes over the wire: all but the non-finite mismatches, which fail. An
  /// older build does not say `min_tolerance`, 0, and `inside_share`, 1.
  std::optional<Accuracy> accuracy;
  std::string bits = {};                        ///< fingerprint of all outputs, beside `accuracy`
  std::optional<Conversions> conversions = {};  ///< of a step that runs
  double epsilon = 0;     ///< of the results' dtype: 2^-23 of fp32; 0: not known, or not floating
  bool is_exact = false;  ///< its operator has one right result, bit for bit
  /// Fingerprint of the elements of all outputs; empty: not verified, or they do not repeat.
  std::string results = {};

  bool operator==(const OpenedVariant&) const = default;
};

struct OpenReply {
  std::string id;
  std::vector<OpenedVariant> variants;
  bool first_call = false;  ///< as wanted; an older build does not know that

  bool operator==(const OpenReply&) const = default;
};

/// One sample.
struct Sampled {
  double us = 0;      ///< of one call
  std::string wrong;  ///< what is wrong with the results that the last timed call left; empty: none
  /// What a further call leaves on the values that are verified, as `OpenedVariant::results`;
  /// empty: not known, as of an older build.
  std::string results = {};

  bool operator==(const Sampled&) const = default;
};

/// Fingerprint of the machine code of a variant of the open case, or of a step of the open context.
struct CodeReply {
  std::string fingerprint;  ///< empty: it is not known
  std::string reason;       ///< why it is not

  bool operator==(const CodeReply&) const = default;
};

/// A request of any kind, as a worker reads it.
struct Request {
  enum Kind { list, open, sample, code, close };
  Kind kind = close;
  CaseSelection selection;   ///< of list: what to plan
  OpenRequest open_it;       ///< of open
  std::string variant;       ///< of sample and code
  std::uint64_t layout = 0;  ///< of sample; 0: as they lie
};

/// An error that the other side reported: bad input, such as a case that it refuses, or a failure.
struct PeerError : Error {
  using Error::Error;
};

std::string hello_line(const Hello& hello);
std::string list_line(const CaseSelection& selection);
std::string open_line(const OpenRequest& request);
std::string sample_line(std::string_view variant, std::uint64_t layout = 0);
std::string code_line(std::string_view variant);
std::string close_line();
std::string listed_line(const std::vector<ListedCase>& cases);
std::string opened_line(const OpenReply& reply);
std::string sampled_line(const Sampled& sampled);
std::string coded_line(const CodeReply& reply);
std::string closed_line();
std::string error_line(std::string_view message);

// The inverses. Errors: throw Error that says what the line lacks; those of answers throw PeerError
// with the message of an `error_line`.
Hello parse_hello(std::string_view line);
Request parse_request(std::string_view line);
std::vector<ListedCase> parse_listed(std::string_view line);
OpenReply parse_opened(std::string_view line);
Sampled parse_sampled(std::string_view line);
CodeReply parse_coded(std::string_view line);
void parse_closed(std::string_view line);

}  // namespace opbench::check
