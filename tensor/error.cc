#include "tensor/error.h"

#include "tensor/utf8.h"

namespace opbench {

Error::Error(const std::string& message) : std::runtime_error(printable(message)) {}

}  // namespace opbench
