#pragma once

#include <optional>
#include <string>
#include <vector>

#include "profiles/call_links.h"

namespace opbench {

/// A tensor that a neighbourhood is given.
struct NeighbourInput {
  std::string name;
  Dims shape;
  DType dtype = DType::fp32;
  bool states_dtype = false;     ///< it does not follow that of the context
  std::optional<Format> format;  ///< a private one in which it arrives
  bool is_parameter = false;
};

struct NeighbourNode {
  std::size_t call = 0;
  std::string name;
  Case spec;
  std::vector<std::string> inputs, outputs;
  std::vector<std::string> ambiguous;  ///< inputs that could be another tensor as well
};

/// An operator and those around it, as a context.
struct Neighbourhood {
  DType dtype = DType::fp32;  ///< of the operator in the middle
  std::vector<NeighbourInput> inputs;
  std::vector<NeighbourNode> nodes;  ///< in the order in which they ran
  std::vector<std::string> outputs;
  std::string centre;  ///< the node
  bool has_producer = false, has_consumer = false;
  std::size_t edges = 0, ambiguous = 0;
  std::size_t trans_data = 0, casts = 0;  ///< seen through: a context plans its own
  std::vector<std::string> left_out;      ///< what ends it, a line each
};

/// The operators that make what `centre`, a case, takes, and those that take what it makes, up to
/// `depth` steps. Conversions of the format are no steps, nor are casts around operators of the
/// cube unit that take and give fp16 where all around is fp32. What is no case ends it.
Neighbourhood neighbourhood_of(const std::vector<NetworkCall>& calls, std::size_t centre,
                               int depth);

}  // namespace opbench
