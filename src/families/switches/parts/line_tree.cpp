#include "families/switches/parts/line_tree.hpp"

#include <algorithm>
#include <iterator>
#include <map>

#include "base/text.hpp"

namespace tundish::switches {
namespace {

/// Deeper text is no configuration; its lines stay at this depth.
constexpr std::size_t depth_limit = 24;

bool carries_nothing(std::string_view line) {
  return line.empty() || line[0] == '!' || line == "exit" || line == "end";
}

std::string pad(std::size_t depth, int indent) {
  return std::string(depth * static_cast<std::size_t>(indent), ' ');
}

void render_into(const LineTree& node, std::size_t depth, int indent, std::string& out) {
  for (const auto& child : node.children) {
    out += pad(depth, indent) + child.line + "\n";
    render_into(child, depth + 1, indent, out);
  }
}

/// Whether the mode under this header must be written anew to get from one to the other.
bool restarts(const LineTree& from, const LineTree& to, const LineRules& rules) {
  if (rules.is_shared(from.line)) return false;
  const auto lines_of = [&](const LineTree& node) {
    std::vector<std::string> out;
    for (const auto& child : node.children) {
      if (rules.restarts(child.line)) out.push_back(child.line);
    }
    return out;
  };
  return lines_of(from) != lines_of(to);
}

void removals_into(const LineTree& from, const LineTree& to, const LineRules& rules,
                   std::size_t depth, std::string& out) {
  for (auto child = from.children.rbegin(); child != from.children.rend(); ++child) {
    const LineTree* same = to.find(child->line);
    const bool whole =
        same == nullptr ? !rules.is_shared(child->line) : restarts(*child, *same, rules);
    if (whole) {
      out += pad(depth, rules.indent) + rules.negate(child->line) + "\n";
      continue;
    }
    std::string inner;
    removals_into(*child, same == nullptr ? LineTree{} : *same, rules, depth + 1, inner);
    if (!inner.empty()) out += pad(depth, rules.indent) + child->line + "\n" + inner;
  }
}

void additions_into(const LineTree& from, const LineTree& to, const LineRules& rules,
                    std::size_t depth, std::string& out) {
  for (const auto& child : to.children) {
    const LineTree* same = from.find(child.line);
    const bool whole = same == nullptr || restarts(*same, child, rules);
    std::string inner;
    additions_into(whole ? LineTree{} : *same, child, rules, depth + 1, inner);
    if (whole || !inner.empty()) out += pad(depth, rules.indent) + child.line + "\n" + inner;
  }
}

}  // namespace

LineTree& LineTree::at(std::string_view text) {
  for (auto& child : children) {
    if (child.line == text) return child;
  }
  children.push_back({std::string(text), {}});
  return children.back();
}

const LineTree* LineTree::find(std::string_view text) const {
  for (const auto& child : children) {
    if (child.line == text) return &child;
  }
  return nullptr;
}

std::vector<std::string> words_of_line(std::string_view line) {
  std::vector<std::string> out;
  for (auto& word : split(line, ' ')) {
    if (!word.empty()) out.push_back(std::move(word));
  }
  return out;
}

LineTree parse_line_tree(std::string_view text) {
  struct Open {
    std::size_t column;
    LineTree* node;
  };
  LineTree root;
  std::vector<Open> open = {{0, &root}};
  for (const auto& raw : split(text, '\n')) {
    const std::string_view bare = trim(raw);
    if (carries_nothing(bare)) continue;
    const std::size_t column = raw.find_first_not_of(" \t\r") + 1;
    while (open.size() > 1 && (open.back().column >= column || open.size() > depth_limit)) {
      open.pop_back();
    }
    // Pointers stay good: only the innermost list grows, and its older items are closed by then.
    auto& list = open.back().node->children;
    list.push_back({join(words_of_line(bare), " "), {}});
    open.push_back({column, &list.back()});
  }
  collapse_lines(root);
  return root;
}

std::string render_line_tree(const LineTree& root, int indent) {
  std::string out;
  for (const auto& child : root.children) {
    out += child.line + "\n";
    render_into(child, 1, indent, out);
    if (!child.children.empty()) out += "!\n";
  }
  return out;
}

void collapse_lines(LineTree& root) {
  std::map<std::string, std::size_t> places;
  std::vector<LineTree> out;
  for (auto& child : root.children) {
    const auto [at, is_new] = places.try_emplace(child.line, out.size());
    if (is_new) {
      out.push_back(std::move(child));
    } else {
      auto& into = out[at->second].children;
      into.insert(into.end(), std::make_move_iterator(child.children.begin()),
                  std::make_move_iterator(child.children.end()));
    }
  }
  root.children = std::move(out);
  for (auto& child : root.children) collapse_lines(child);
}

std::string render_removals(const LineTree& from, const LineTree& to, const LineRules& rules) {
  std::string out;
  removals_into(from, to, rules, 0, out);
  return out;
}

std::string render_additions(const LineTree& from, const LineTree& to, const LineRules& rules) {
  std::string out;
  additions_into(from, to, rules, 0, out);
  return out;
}

}  // namespace tundish::switches
