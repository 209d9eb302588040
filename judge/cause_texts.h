#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "judge/causes.h"

namespace opbench {

/// For people: "Looks like: every wrong value is 0.5 times what is expected: ...".
std::string looks_like(const Cause& cause);

/// For tables, the rules alone: "tail; zero". Empty if there are none.
std::string causes_cell(const std::vector<Cause>& causes);

/// [{"rule", "text"}], empty if there are none.
nlohmann::ordered_json causes_value(const std::vector<Cause>& causes);

}  // namespace opbench
