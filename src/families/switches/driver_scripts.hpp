#pragma once
// Shell programs for switches that are reached over SSH, one call each. They need no more than sh
// and flock, and are parsed as a whole before their first command runs: a connection that dies
// cannot leave half of one behind. A change is written down on the switch before its first step;
// whoever comes after a crash of the program goes on where it stopped.
#include <string>
#include <string_view>
#include <vector>

#include "base/instant.hpp"
#include "base/result.hpp"
#include "families/switches/driver_transport.hpp"
#include "ports/exec.hpp"

namespace tundish::switches {

/// A part of the answer of a read: `kind` and, where there are several, the namespace.
struct ShellSection {
  std::string kind;
  std::string netns;  ///< "-": the switch's own
  std::string text;
};

struct ShellRun {
  StepMode mode = StepMode::strict;
  std::vector<std::string> flags;  ///< files beside the steps, for `play_end`
};

/// `body` under the switch's lock. `tools` are functions: a kind of switch that runs steps has
/// `play_file` (runs "$file", step "$number", after `begin`) and `play_end`; `fail` ends the
/// program, `give_up NUMBER TEXT` the change, `section KIND NETNS TEXT` answers.
std::string shell_program(std::string_view tools, const std::string& body, Duration limit);
/// Writes the steps down and plays them. Exit 3: a step failed, and the first line of output says
/// `@failed NUMBER`.
std::string shell_run_program(std::string_view tools, const std::vector<SwitchStep>& steps,
                              const ShellRun& how, Duration limit);

/// A line that is in none of the texts.
std::string end_mark(const std::vector<SwitchStep>& steps);
/// Shell text that writes a file.
std::string shell_file(const std::string& path, const std::string& text, const std::string& mark);

/// Refuses an answer that is cut off or lacks the section `must_have`.
Result<std::vector<ShellSection>> parse_shell_sections(std::string_view answer,
                                                       std::string_view must_have);
/// Standard output of a program, or why it failed, with the step's name.
Result<std::string> shell_outcome(const Result<ExecOutput>& output,
                                  const std::vector<std::string>& steps);

}  // namespace tundish::switches
