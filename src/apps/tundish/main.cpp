// tundish: the command line for everybody.
#include <unistd.h>

#include <iostream>

#include "apps/tundish/cmd_lab.hpp"
#include "apps/tundish/shipped.hpp"
#include "lab/node_init.hpp"
#include "lab/supervisor.hpp"
#include "lab/switch_init.hpp"

namespace {

namespace cli = tundish::edge::cli;

cli::Context::Variables read_variables() {
  cli::Context::Variables variables;
  for (char** at = environ; *at != nullptr; ++at) {
    const std::string one = *at;
    const auto sign = one.find('=');
    if (sign != std::string::npos) variables[one.substr(0, sign)] = one.substr(sign + 1);
  }
  return variables;
}

/// Processes of a lab are started by this program too; they are no commands and take no flags of
/// one. -1: something else.
int run_lab_process(const std::vector<std::string>& args) {
  if (args.size() < 2 || args[0] != "lab") return -1;
  if (args[1] == "node-init") {
    return tundish::lab::node_init_main({args.begin() + 2, args.end()});
  }
  if (args[1] == "switch-init") {
    return tundish::lab::switch_init_main({args.begin() + 2, args.end()});
  }
  if (args[1] == "supervise" && args.size() == 4 && args[2] == "--spec") {
    return tundish::lab::supervise_main(args[3]);
  }
  return -1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> args(argv + 1, argv + argc);
  const int ended = run_lab_process(args);
  if (ended >= 0) return ended;
  const bool is_person = ::isatty(STDIN_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1;
  const cli::Terminal terminal{std::cout, std::cerr, std::cin,
                               is_person ? cli::Presence::person : cli::Presence::script};
  cli::Context context(terminal, read_variables());
  tundish::add_shipped(context);
  return cli::run_program(args, context, tundish::add_lab);
}
