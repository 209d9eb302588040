#include "kernels/vendor.h"

#ifdef OPBENCH_HAS_ONEDNN
#include <oneapi/dnnl/dnnl.h>
#endif

namespace opbench {

std::string vendor_version() {
#ifdef OPBENCH_HAS_ONEDNN
  const dnnl_version_t* v = dnnl_version();
  return std::to_string(v->major) + "." + std::to_string(v->minor) + "." + std::to_string(v->patch);
#else
  return {};
#endif
}

}  // namespace opbench
