#include "edge/cli/completion.hpp"

#include <functional>

#include "base/text.hpp"

namespace tundish::edge::cli {
namespace {

/// "-o,--output" -> {"-o", "--output"}; nothing for an argument by position.
std::vector<std::string> flags_of(const OptionDoc& option) {
  if (option.name.front() != '-') return {};
  return split(option.name, ',');
}

std::vector<std::string> words_at(const CommandDoc& command, const CommandDoc& root) {
  std::vector<std::string> words;
  for (const auto& sub : command.commands) words.push_back(sub.name);
  for (const auto* from : {&command, &root}) {
    for (const auto& option : from->options) {
      for (const auto& flag : flags_of(option)) words.push_back(flag);
    }
    if (&command == &root) break;
  }
  words.push_back("--help");
  return words;
}

using Visit = std::function<void(const std::string& path, const CommandDoc& command)>;

void walk_commands(const CommandDoc& command, const std::string& path, const Visit& visit) {
  visit(path, command);
  for (const auto& sub : command.commands) {
    walk_commands(sub, path.empty() ? sub.name : path + " " + sub.name, visit);
  }
}

std::string single_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

/// `case` arms: path of the command -> words that may follow; flag -> its values.
std::string case_of_words(const CommandDoc& root) {
  std::string out;
  walk_commands(root, "", [&](const std::string& path, const CommandDoc& command) {
    out += "    " + single_quoted(path) +
           ") words=" + single_quoted(join(words_at(command, root), " ")) + " ;;\n";
  });
  return out;
}

std::string case_of_values(const CommandDoc& root) {
  std::string out;
  walk_commands(root, "", [&](const std::string& path, const CommandDoc& command) {
    for (const auto& option : command.options) {
      for (const auto& flag : flags_of(option)) {
        if (option.choices.empty()) continue;
        const std::string key =
            path.empty() ? "*' " + flag + "'" : single_quoted(path + " " + flag);
        out += "    " + key + ") words=" + single_quoted(join(option.choices, " ")) + " ;;\n";
      }
    }
  });
  return out;
}

/// The arms both shells share: which words follow the path so far.
std::string shared_body(const CommandDoc& root) {
  return "  case \"$path\" in\n" + case_of_words(root) + "    *) words='' ;;\n  esac\n" +
         "  case \"$path $previous\" in\n" + case_of_values(root) + "  esac\n";
}

/// Names of commands, so that values of flags are not taken for a part of the path.
std::string known_paths(const CommandDoc& root) {
  std::string out;
  walk_commands(root, "", [&](const std::string& path, const CommandDoc&) {
    if (!path.empty()) out += (out.empty() ? "" : "|") + single_quoted(path);
  });
  return out;
}

}  // namespace

std::string render_bash_completion(const CommandDoc& root) {
  return "# bash completion of tundish; load it with: source <(tundish completion bash)\n"
         "_tundish() {\n"
         "  local current=\"${COMP_WORDS[COMP_CWORD]}\" previous=\"${COMP_WORDS[COMP_CWORD-1]}\"\n"
         "  local path='' words='' i\n"
         "  for ((i = 1; i < COMP_CWORD; ++i)); do\n"
         "    case \"${path:+$path }${COMP_WORDS[i]}\" in\n"
         "      " +
         known_paths(root) +
         ") path=\"${path:+$path }${COMP_WORDS[i]}\" ;;\n"
         "    esac\n"
         "  done\n" +
         shared_body(root) +
         "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
         "}\n"
         "complete -o default -F _tundish tundish\n";
}

std::string render_zsh_completion(const CommandDoc& root) {
  return "#compdef tundish\n"
         "# zsh completion of tundish; load it with: source <(tundish completion zsh)\n"
         "_tundish() {\n"
         "  local previous=\"${words[CURRENT-1]}\" path_so_far='' i\n"
         "  local -a typed; typed=(\"${(@)words[1,CURRENT-1]}\")\n"
         "  _tundish_words \"$previous\" \"${(@)typed[2,-1]}\"\n"
         "}\n"
         "_tundish_words() {\n"
         "  local previous=\"$1\" joined='' words='' one; shift\n"
         "  for one in \"$@\"; do\n"
         "    case \"${joined:+$joined }$one\" in\n"
         "      " +
         known_paths(root) +
         ") joined=\"${joined:+$joined }$one\" ;;\n"
         "    esac\n"
         "  done\n"
         "  # `path` is bound to PATH in zsh\n" +
         [&] {
           std::string body = shared_body(root);
           for (std::size_t at; (at = body.find("$path")) != std::string::npos;) {
             body.replace(at, 5, "$joined");
           }
           return body;
         }() +
         "  compadd -- ${(s: :)words}\n"
         "}\n"
         "compdef _tundish tundish\n";
}

std::string render_fish_completion(const CommandDoc& root) {
  std::string out =
      "# fish completion of tundish; load it with: tundish completion fish | source\n"
      "function __tundish_path\n"
      "  set -l words (commandline -opc)\n"
      "  set -e words[1]\n"
      "  set -l known ";
  walk_commands(root, "", [&](const std::string& path, const CommandDoc&) {
    if (!path.empty()) out += single_quoted(path) + " ";
  });
  out +=
      "\n  set -l path ''\n"
      "  for one in $words\n"
      "    set -l longer (string trim -- \"$path $one\")\n"
      "    contains -- $longer $known; and set path $longer\n"
      "  end\n"
      "  test \"$path\" = \"$argv[1]\"\n"
      "end\n"
      "complete -c tundish -f\n";
  walk_commands(root, "", [&](const std::string& path, const CommandDoc& command) {
    const std::string at = "complete -c tundish -n \"__tundish_path " + single_quoted(path) + "\"";
    for (const auto& sub : command.commands) {
      out += at + " -a " + sub.name + " -d " + single_quoted(sub.doc) + "\n";
    }
    for (const auto& option : command.options) {
      // Global flags may stand anywhere.
      std::string line = path.empty() ? "complete -c tundish" : at;
      for (const auto& flag : flags_of(option)) {
        line += flag.rfind("--", 0) == 0 ? " -l " + flag.substr(2) : " -s " + flag.substr(1);
      }
      if (flags_of(option).empty()) continue;
      if (!option.choices.empty()) line += " -x -a " + single_quoted(join(option.choices, " "));
      out += line + " -d " + single_quoted(option.doc) + "\n";
    }
  });
  return out;
}

}  // namespace tundish::edge::cli
