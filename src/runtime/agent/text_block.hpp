#pragma once
// A part of a file that belongs to us, between two marks; the rest belongs to the system.
#include <string>

#include "base/result.hpp"

namespace tundish::agent {

struct TextBlock {
  std::string name;     ///< part of the marks, for example a cluster
  std::string content;  ///< whole lines; empty: the block is taken away
};

std::string replace_block(const std::string& text, const TextBlock& block);
/// Reads, replaces and writes back atomically; writes nothing when nothing changes.
Result<> write_block(const std::string& path, const TextBlock& block);
/// Takes away every block of ours.
Result<> remove_blocks(const std::string& path);
bool has_block(const std::string& text);

}  // namespace tundish::agent
