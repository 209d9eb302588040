#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ops/op.h"
#include "tensor/fill.h"

namespace opbench {

/// Data of a case's inputs. The default distribution of each input suits its operator and dtype.
/// The default seed is the hash of the case's key.
struct DataSpec {
  std::optional<Distribution> distribution;
  bool has_seed = false;
  std::uint64_t seed = 0;

  bool operator==(const DataSpec&) const = default;
};

/// One input tensor. Omitted members follow the case and the operator.
struct CaseInput {
  Dims shape;  ///< logical shape
  /// Set for an input with a dtype of its own: an index, or a floating input whose dtype differs
  /// from the case's (the operator promotes it).
  std::optional<DType> dtype;
  std::optional<Distribution> data;

  bool operator==(const CaseInput&) const = default;
};

/// Variants of a case that are expected to fail, because the device's variants fail too.
struct ExpectedFailure {
  std::vector<std::string> variants;  ///< empty: all
  std::vector<DType> dtypes;          ///< dtypes of the case; empty: all
  std::string reason;

  bool is_of(std::string_view variant) const;
  bool is_of(DType dtype) const;
  bool operator==(const ExpectedFailure&) const = default;
};

/// One operator on tensors of given shapes, dtype and format. It is timed and verified.
struct Case {
  const Op* op = nullptr;
  std::vector<CaseInput> inputs;
  DType dtype = DType::fp32;
  Format format = Format::ND;  ///< of the storage; tensors that it does not fit (scalars) are ND
  Attrs attrs;
  bool backward = false;  ///< followed by the backward pass
  DataSpec data;

  // The following members are not part of the id. A case file states them.
  std::string name;                   ///< "layer1.0.relu"; may be empty
  int count = 1;                      ///< number of times that the network runs it
  double weight_us = 0;               ///< profiled time of all these calls; 0: unknown
  std::optional<double> threshold;    ///< a slowdown above this share is a regression
  std::vector<std::string> variants;  ///< empty: all
  std::optional<ExpectedFailure> expected_failure;
  std::string origin;  ///< "cases/resnet.yaml:12", for messages
};

/// Canonical text of a case, such as "softplus[128x64x128x128,fp16,NC1HWC0,beta=1,threshold=20]".
/// It is the benchmark name, the key in reports and baselines, and the argument of --case. It holds
/// the shapes ("116:int32" for an input with another dtype), dtype, format and attributes in the
/// operator's order. "backward", "data=", "data.INPUT=" and "seed=" follow if they differ from the
/// default.
std::string case_id(const Case& c);

/// `case_id` without attributes that have their default. A build whose operator has fewer
/// attributes writes the same key. The hash of the key is the seed, so a new attribute does not
/// change the data of existing cases.
std::string case_key(const Case& c);

/// Key of the case that an id states. Another version of the program may write the id differently.
/// Returns the id itself if it does not parse.
std::string key_of_id(const std::string& id);

/// Inverse of `case_id`. Omitted attributes take their defaults.
/// Errors: throws Error that shows the part that cannot be read.
Case parse_case_id(std::string_view id);

/// Hash of a text; equal on every machine.
std::uint64_t text_hash(std::string_view text);

/// Seed of a case: its own, or the hash of its key.
std::uint64_t seed_of(const Case& c);

/// Input tensors that the case states.
/// Errors: throws Error, prefixed with the case's origin.
std::vector<TensorDesc> inputs_of(const Case& c);

/// The operator's problem that the case states, with outputs inferred.
/// Errors: throws Error, prefixed with the case's origin.
Problem problem_of(const Case& c);

/// Case of a single call: its shapes, dtypes, attributes, and the format of its first input.
Case case_of(const Problem& problem);

/// Distribution of each input of the case.
std::vector<Distribution> input_data(const Case& c, const Problem& problem);

}  // namespace opbench
