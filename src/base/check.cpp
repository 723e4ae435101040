#include "base/check.hpp"

#include <cstdio>
#include <cstdlib>

namespace tundish {

void check(bool holds, std::string_view why, std::source_location where) {
  if (holds) return;
  std::fprintf(stderr, "check failed: %.*s (%s:%u)\n", static_cast<int>(why.size()), why.data(),
               where.file_name(), where.line());
  std::abort();
}

}  // namespace tundish
