#pragma once
// Documents generated from descriptions. The object is borrowed: its lists and optionals are filled
// to see what they hold, then everything is put back, so do not hand in one that others read.
#include <string>
#include <string_view>

#include "base/describe.hpp"

namespace tundish {

/// A Markdown heading and a table of field, type and meaning.
std::string render_reference(std::string_view type_name, AnyDescribed scratch);

/// A JSON Schema object as OpenAPI 3.1 takes it.
std::string render_openapi_schema(AnyDescribed scratch, int indent = -1);

}  // namespace tundish
