#pragma once
// Configurations that are lines nested by indentation (EOS, NX-OS): read, merged, compared.
#include <string>
#include <string_view>
#include <vector>

namespace tundish::switches {

/// A line and the lines of the mode that it opens. The root's own line is empty.
struct LineTree {
  std::string line;
  std::vector<LineTree> children;
  bool operator==(const LineTree&) const = default;
  /// The child with this line, added at the end when there is none.
  LineTree& at(std::string_view text);
  const LineTree* find(std::string_view text) const;
  void add(std::string text) { children.push_back({std::move(text), {}}); }
};

/// Total: any text is some tree. Comments (`!`), blanks and `exit` carry nothing and are dropped;
/// runs of blanks within a line become one.
LineTree parse_line_tree(std::string_view text);
std::string render_line_tree(const LineTree& root, int indent);
/// Puts modes that are opened more than once together, at the place of their first line.
void collapse_lines(LineTree& root);
std::vector<std::string> words_of_line(std::string_view line);

/// How one kind of switch takes lines back.
struct LineRules {
  int indent = 2;
  /// The command that undoes a line.
  std::string (*negate)(const std::string& line) = nullptr;
  /// Headers that hold lines of others too, or that cannot go: only our lines in them go.
  bool (*is_shared)(const std::string& header) = nullptr;
  /// Lines whose change makes the switch drop others of the same mode (an interface's VRF): the
  /// whole mode is written anew.
  bool (*restarts)(const std::string& line) = nullptr;
};

/// Commands that take out what `to` lacks, last line first: what refers goes before what is
/// referred to.
std::string render_removals(const LineTree& from, const LineTree& to, const LineRules& rules);
/// Commands that put in what `from` lacks, first line first.
std::string render_additions(const LineTree& from, const LineTree& to, const LineRules& rules);

}  // namespace tundish::switches
