#pragma once
// YAML in and out of described objects, for files that people write.
#include <string>
#include <string_view>

#include "base/describe.hpp"
#include "base/result.hpp"

namespace tundish {

/// As strict as parse_json with Unknown::refuse; errors start with "file:line:column". The
/// description decides what an unquoted scalar is: `rack: 01` and `name: no` are texts for a text
/// field, only `true` and `false` are flags, integers are decimal. One document per file; aliases
/// are refused, because a few of them can stand for gigabytes.
Result<> parse_yaml(std::string_view text, AnyDescribed into, std::string_view file_name);

/// Block style; texts that some reader could take for another type are quoted.
std::string render_yaml(AnyDescribed object);

}  // namespace tundish
