#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ops/op.h"
#include "tensor/fill.h"

namespace opbench {

/// The data of a case's inputs. Without a distribution each input has what suits its operator and
/// dtype; without a seed of its own a case is seeded by its key.
struct DataSpec {
  std::optional<Distribution> distribution;
  bool has_seed = false;
  std::uint64_t seed = 0;

  bool operator==(const DataSpec&) const = default;
};

/// One input tensor. What is left out follows the case and the operator.
struct CaseInput {
  Dims shape;  ///< logical
  /// Of an input with dtypes of its own, such as an index, or another floating one than the case's
  /// where the operator promotes its inputs.
  std::optional<DType> dtype;
  std::optional<Distribution> data;

  bool operator==(const CaseInput&) const = default;
};

/// Variants of a case that are known to fail, as the device's do.
struct ExpectedFailure {
  std::vector<std::string> variants;  ///< empty: all
  std::vector<DType> dtypes;          ///< of the case; empty: all
  std::string reason;

  bool is_of(std::string_view variant) const;
  bool is_of(DType dtype) const;
  bool operator==(const ExpectedFailure&) const = default;
};

/// One operator on tensors of given shapes, dtype and format: what is timed and verified.
struct Case {
  const Op* op = nullptr;
  std::vector<CaseInput> inputs;
  DType dtype = DType::fp32;
  Format format = Format::ND;  ///< of the storage; tensors it does not fit (scalars) are ND
  Attrs attrs;
  bool backward = false;  ///< followed by the backward pass
  DataSpec data;

  // Not part of the id: what a file says about the case.
  std::string name;                   ///< "layer1.0.relu"; empty: none
  int count = 1;                      ///< how often the network runs it
  double weight_us = 0;               ///< what all these calls took when profiled; 0: not known
  std::optional<double> threshold;    ///< slower by more than this share is a regression
  std::vector<std::string> variants;  ///< empty: all
  std::optional<ExpectedFailure> expected_failure;
  std::string origin;  ///< "cases/resnet.yaml:12", for messages
};

/// Canonical text of a case, such as "softplus[128x64x128x128,fp16,NC1HWC0,beta=1,threshold=20]":
/// the benchmark name, the key in reports and baselines, and the argument of
/// --case. Shapes ("116:int32" for an input with another dtype), dtype, format, attributes in the
/// operator's order, then "backward", "data=", "data.INPUT=" and "seed=" where they are not the
/// default.
std::string case_id(const Case& c);

/// `case_id` without the attributes at their defaults: the same for a build whose operator has
/// fewer attributes. Its hash is the seed: an attribute that is new changes nobody's data.
std::string case_key(const Case& c);

/// The key of the case that an id states, which a build of another age may write otherwise; the id
/// itself where it states none.
std::string key_of_id(const std::string& id);

/// Inverse of `case_id`; attributes that are left out take their defaults.
/// Errors: throws Error that shows the part that cannot be read.
Case parse_case_id(std::string_view id);

/// The same number for the same text, on every machine.
std::uint64_t text_hash(std::string_view text);

/// The seed of a case: its own, else the hash of its key.
std::uint64_t seed_of(const Case& c);

/// The input tensors that the case states. Errors: throws Error, prefixed with the case's origin.
std::vector<TensorDesc> inputs_of(const Case& c);

/// The operator's problem that the case states, outputs inferred. Errors: throws Error, prefixed
/// with the case's origin.
Problem problem_of(const Case& c);

/// The case of a single call: its shapes, dtypes, attributes, and the format of its first input.
Case case_of(const Problem& problem);

/// What each input of the case is filled with.
std::vector<Distribution> input_data(const Case& c, const Problem& problem);

}  // namespace opbench
