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

// Protocol between `opbench check` and its workers: one JSON object per line, over the worker's
// standard input and output. The worker sends a hello first. Then every request has one answer.
// Unknown keys are ignored, so that builds of different versions work together as long as both
// support the protocol version.
namespace opbench::check {

// Version 2 has contexts. A worker of version 1 would ignore them silently.
inline constexpr int kProtocolVersion = 2, kOldestProtocol = 2;

/// Description of a worker's build.
struct BuildInfo {
  std::string version, revision, compiler, flags, build_type;

  bool operator==(const BuildInfo&) const = default;
};

struct Hello {
  int protocol = kProtocolVersion;
  int oldest = kOldestProtocol;  ///< oldest version that this build supports
  BuildInfo build;
};

/// Source of a context. Its id alone does not identify it.
struct ContextSource {
  std::string file;  ///< as named by the selection
  std::string name;
  DType dtype = DType::fp32;
  Symbols symbols;  ///< set by the selection

  bool operator==(const ContextSource&) const = default;
};

/// A case of a plan, or a context; the variants are the context's steps then.
struct ListedCase {
  std::string id;
  /// The id without attributes at their defaults, which a build with fewer attributes would write.
  std::string key;
  std::string name;
  int count = 1;
  std::vector<std::string> variants;  ///< requested; empty: all
  std::optional<double> threshold;    ///< as a share: 0.05
  std::optional<ContextSource> context = {};
  /// Only the one that applies to the case's dtype.
  std::optional<ExpectedFailure> expected_failure = {};

  bool operator==(const ListedCase&) const = default;
};

/// Opens one case or context in the worker. A case that was open before is closed.
struct OpenRequest {
  std::string id, key;
  int threads = 1;
  std::vector<std::string> variants;  ///< requested; empty: all
  bool cold = false;
  bool verify = true;
  /// Placement of tensors within their pages (memory_plan.h); 0: as in a run.
  std::uint64_t layout = 0;
  bool watch = true;  ///< timed calls are watched, and their results are judged
  bool first_call =
      false;        ///< samples are first calls: kernels are not prepared, and each variant has one
  std::string isa;  ///< empty: the best
  double sample_seconds = 0.02;
  std::optional<ContextSource> context = {};

  bool operator==(const OpenRequest&) const = default;
};

/// Conversions and copies of a context's step in one call.
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
  /// The values that a check compares are sent: all but the non-finite mismatches, which fail in
  /// the worker. An older build does not send `min_tolerance` (0) and `inside_share` (1).
  std::optional<Accuracy> accuracy;
  std::string bits = {};                        ///< fingerprint of all outputs, with `accuracy`
  std::optional<Conversions> conversions = {};  ///< of a step that runs
  double epsilon = 0;     ///< of the results' dtype: 2^-23 of fp32; 0: unknown, or not floating
  bool is_exact = false;  ///< the results of its operator are defined bit for bit
  /// Fingerprint of the elements of all outputs; empty: not verified, or not reproducible.
  std::string results = {};

  bool operator==(const OpenedVariant&) const = default;
};

struct OpenReply {
  std::string id;
  std::vector<OpenedVariant> variants;
  bool first_call = false;  ///< as requested; an older build does not send it

  bool operator==(const OpenReply&) const = default;
};

/// One sample.
struct Sampled {
  double us = 0;      ///< of one call
  std::string wrong;  ///< error in the results of the last timed call; empty: correct
  /// Results of a further call on the verified values, as `OpenedVariant::results`; empty: unknown,
  /// for example from an older build.
  std::string results = {};

  bool operator==(const Sampled&) const = default;
};

/// Fingerprint of the machine code of a variant of the open case, or of a step of the open context.
struct CodeReply {
  std::string fingerprint;  ///< empty: unknown
  std::string reason;       ///< why it is unknown

  bool operator==(const CodeReply&) const = default;
};

/// A request of any kind, as a worker reads it.
struct Request {
  enum Kind { list, open, sample, code, close };
  Kind kind = close;
  CaseSelection selection;   ///< of list: the cases to plan
  OpenRequest open_it;       ///< of open
  std::string variant;       ///< of sample and code
  std::uint64_t layout = 0;  ///< of sample; 0: unchanged
};

/// An error that the worker reported: bad input, such as a case that it refuses, or a failure.
struct WorkerError : Error {
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

// Inverse functions.
// Errors: throw Error that names the missing part of the line; those of answers throw WorkerError
// with the message of an `error_line`.
Hello parse_hello(std::string_view line);
Request parse_request(std::string_view line);
std::vector<ListedCase> parse_listed(std::string_view line);
OpenReply parse_opened(std::string_view line);
Sampled parse_sampled(std::string_view line);
CodeReply parse_coded(std::string_view line);
void parse_closed(std::string_view line);

}  // namespace opbench::check
