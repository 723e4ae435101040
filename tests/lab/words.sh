#!/usr/bin/env bash
# What ./dev and `tundish lab` say to words that they do not know. Needs no lab and starts none.
set -uo pipefail
tree=$(cd "$(dirname "$0")/../.." && pwd)
cd "$tree" || exit 1
XDG_CONFIG_HOME=$(mktemp -d)
export XDG_CONFIG_HOME
unset TUNDISH_API TUNDISH_TOKEN
trap 'rm -rf "$XDG_CONFIG_HOME"' EXIT
wrong=0

says() { # EXIT TEXT COMMAND...
  local expected=$1 text=$2 told code=0
  shift 2
  told=$(timeout 60 "$@" 2>&1 </dev/null) || code=$?
  if [[ $code != "$expected" || $told != *"$text"* || $told == *": line "* ]]; then
    printf '%s: exit %s, expected %s and "%s"\n%s\n' "$*" "$code" "$expected" "$text" "$told"
    wrong=1
  fi
}

says 2 "a seed is a whole number, not abc" ./dev sim abc
says 2 "usage: ./dev sim SEED" ./dev sim
says 2 "usage: ./dev sim SEED" ./dev sim 1 2
says 2 "usage: ./dev new FAMILY NAME" ./dev new
says 2 "usage: ./dev new FAMILY NAME" ./dev new check
says 2 "no family is called" ./dev new nosuch thing
says 2 "usage: ./dev test [--slow]" ./dev test --help
says 2 "it does not take: --nosuch" ./dev test --nosuch
says 2 "usage: ./dev demo [NAME] [--keep]" ./dev demo --help
says 2 "does not take: --nosuch" ./dev demo --nosuch
says 2 "no demo is called nosuch" ./dev demo nosuch
says 2 "no demo is called stage" ./dev demo stage
says 2 "no target is called nosuch" ./dev fuzz nosuch
says 2 "it takes nothing: x" ./dev ci x
says 2 "no word is called nosuch" ./dev nosuch
says 0 "usage: ./dev WORD" ./dev
says 4 "dev: packages are not built yet" ./dev package
says 2 "not known: --nosuch" python3 tests/demo/main.py --nosuch

root=$XDG_CONFIG_HOME/none
says 2 "--nodes 0 is below 1" tundish lab up --name words --root "$root" --nodes 0
says 2 "--nodes -2 is below 1" tundish lab up --name words --root "$root" --nodes -2
says 2 "--login-nodes -1 is below 0" tundish lab up --name words --root "$root" --login-nodes -1
says 1 "no lab at $root: nothing to end" tundish lab down --lab "$root"
says 1 "no lab at $root: nothing to end" tundish lab down --lab "$root" --dry-run
says 1 "nosuchlab: nothing to end" tundish lab down --lab nosuchlab
says 3 "no lab at $root" tundish lab use "$root"
says 3 "nosuchlab" tundish context use --lab nosuchlab
says 3 "is not the folder of a lab" tundish lab down --lab "$XDG_CONFIG_HOME"
[[ ! -e $root ]] || { echo "something made $root"; wrong=1; }

# A lab that was stopped is one that can be chosen: its spec is what tells.
for name in one two; do
  mkdir -p "$XDG_CONFIG_HOME/$name/run"
  printf '{"name":"%s","bin_dir":"/nowhere"}' "$name" >"$XDG_CONFIG_HOME/$name/run/spec.json"
done
says 0 "is used now" tundish lab use "$XDG_CONFIG_HOME/one"
says 0 "unix:$XDG_CONFIG_HOME/one/run/tundishd.sock" tundish context show
says 0 "stopped" tundish lab list
says 0 "$XDG_CONFIG_HOME/two/secrets/operator.token" \
  tundish context use --lab "$XDG_CONFIG_HOME/two"
# By its name, as the list tells it, although its root follows from no name.
says 0 "would end the lab at $XDG_CONFIG_HOME/two" tundish lab down --lab two --dry-run
says 4 "no answer from unix:$XDG_CONFIG_HOME/two/run/tundishd.sock" tundish status --token t
for shell in bash zsh fish; do
  says 0 "version" tundish completion $shell
  for word in "lab list" "lab use" "context use"; do
    told=$(tundish completion $shell)
    [[ $told == *"$word"* ]] || { echo "completion $shell lacks $word"; wrong=1; }
  done
done
exit $wrong
