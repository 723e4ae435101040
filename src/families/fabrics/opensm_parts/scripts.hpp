#pragma once
// What runs on the manager's node: POSIX sh with coreutils, util-linux and infiniband-diags. Each
// is one step after which the file in place is whole and tried, whoever dies where.
#include <string_view>

namespace tundish::fabrics {

/// FILE: "sha256 HEX" (or "absent"), " tried" when it is the very file that we put there, then the
/// file's text.
inline constexpr std::string_view read_script = R"sh(
if [ -e "$1" ]; then
  sum=$(sha256sum <"$1") || exit 66
  sum=${sum%% *} tried=
  read -r tried 2>/dev/null <"$1.tundish-tried"
  [ "$sum" = "$tried" ] && tried=' tried' || tried=
  echo "sha256 $sum$tried" && exec cat "$1"
  exit 66
fi
echo absent
)sh";

/// [VARIABLE=VALUE]...: who the manager is, links, and the PKey table of every end port.
inline constexpr std::string_view sweep_script = R"sh(
d=$(mktemp -d "${TMPDIR:-/tmp}/tundish-sweep.XXXXXX") && cd "$d" || exit 70
trap 'cd /; rm -rf "$d"' EXIT
env "$@" sminfo 2>/dev/null || { echo 'the subnet manager does not answer' >&2; exit 69; }
env "$@" ibnetdiscover -p >links 2>/dev/null || { echo 'ibnetdiscover fails' >&2; exit 69; }
cat links
awk '($1 == "CA" || $1 == "RT") && $2 > 0 { print $4, $2, $3 }' links |
  env "$@" xargs -r -P 8 -n 3 sh -c '
    table=$(smpquery pkeys "$2" "$3" 2>/dev/null) && printf "pkeys %s\n%s\n" "$1" "$table"
    exit 0' one
)sh";

/// [VARIABLE=VALUE]...; standard input is lines "FROM_GUID TO_GUID". Per line the subnet manager's
/// answer after "path FROM TO", or "silent FROM TO" when it gave none or a port is not there.
inline constexpr std::string_view paths_script = R"sh(
d=$(mktemp -d "${TMPDIR:-/tmp}/tundish-sweep.XXXXXX") && cd "$d" || exit 70
trap 'cd /; rm -rf "$d"' EXIT
cat >asked
env "$@" sminfo >/dev/null 2>&1 || { echo 'the subnet manager does not answer' >&2; exit 69; }
env "$@" ibnetdiscover -p 2>/dev/null >links || { echo 'ibnetdiscover fails' >&2; exit 69; }
awk 'FNR == NR { if (($1 == "CA" || $1 == "RT") && $2 > 0) lid[$4] = $2; next }
  { print $1, $2, ($1 in lid) ? lid[$1] : 0, ($2 in lid) ? lid[$2] : 0 }' links asked |
  env "$@" xargs -r -P 8 -n 4 sh -c '
    if [ "$3" -gt 0 ] && [ "$4" -gt 0 ]; then
      for try in 1 2 3; do # an answer may be lost on a loaded node
        record=$(saquery PR --src-to-dst "$3:$4" 2>/dev/null) || continue
        printf "path %s %s\n%s\n" "$1" "$2" "$record"
        exit 0
      done
    fi
    echo "silent $1 $2"' one
)sh";

/// NET_BYTES MANAGER; standard input is the network file and then partitions.conf. Namespaces of
/// its own: ibsim's sockets meet no other ibsim, and nothing outlives the script.
inline constexpr std::string_view canary_script = R"sh(
for tool in opensm ibsim smpquery unshare; do
  command -v $tool >/dev/null || { echo "$tool is not installed" >&2; exit 69; }
done
# What a killed canary or look left behind.
find "${TMPDIR:-/tmp}" -maxdepth 1 -type d -user 0 -name 'tundish-[cs][aw]*.??????' -mmin +60 \
  -exec rm -rf {} + 2>/dev/null
d=$(mktemp -d "${TMPDIR:-/tmp}/tundish-canary.XXXXXX") && cd "$d" || exit 70
trap 'cd /; rm -rf "$d"' EXIT
cat >all
head -c "$1" all >net
tail -c +$(($1 + 1)) all >partitions.conf
: >opensm.conf
unshare --net --pid --fork --kill-child sh -c '
  for lib in /usr/lib/*/umad2sim/libumad2sim.so /usr/lib*/umad2sim/libumad2sim.so; do
    [ -e "$lib" ] && break
  done
  mkfifo con said; exec 3<>con
  ibsim -s net <&3 >said 2>&1 &
  exec 4<said
  while read -r line <&4; do
    case $line in *"simulator ready"*) break ;; esac
  done
  cat <&4 >/dev/null &
  export SIM_HOST="$1" OSM_CACHE_DIR="$PWD/" OSM_TMP_DIR="$PWD/"
  sim() { LD_PRELOAD="$lib" "$@"; }
  sim timeout 20 opensm -o -F opensm.conf -P partitions.conf -f osm.log -e >/dev/null 2>&1
  grep -a -E "PARSE|Partition|SUBNET UP" osm.log | sed "s/^.* -> /opensm /"
  sim ibnetdiscover -p 2>/dev/null >links
  cat links
  while read -r kind lid port guid rest; do
    [ "$kind" = CA ] && [ "$lid" -gt 0 ] || continue
    table=$(sim smpquery pkeys "$lid" "$port" 2>/dev/null </dev/null) &&
      printf "pkeys %s\n%s\n" "$guid" "$table"
  done <links
' canary "$2" </dev/null
sum=$(sha256sum <partitions.conf) && echo "sha256 ${sum%% *}"
)sh";

/// FILE NEW_SHA OLD_SHA|absent; standard input is the new text. Only what the canary took is put in
/// place, and only over the text that was read.
inline constexpr std::string_view install_script = R"sh(
f=$1 t=$1.tundish-new
umask 022
exec 9>"$f.tundish-lock" || exit 73
flock -w 5 9 || { echo 'another writer holds the lock' >&2; exit 75; }
cat >"$t" || exit 74
sum=$(sha256sum <"$t"); sum=${sum%% *}
[ "$sum" = "$2" ] || { rm -f "$t"; echo 'the text came incomplete' >&2; exit 65; }
now=absent
if [ -e "$f" ]; then
  now=$(sha256sum <"$f"); now=${now%% *}
  chown --reference="$f" "$t" && chmod --reference="$f" "$t" || exit 74
fi
[ "$now" = "$3" ] || { rm -f "$t"; echo 'somebody else changed the file' >&2; exit 76; }
echo "$sum" >"$f.tundish-tried" || exit 74
sync "$t" && mv -f -T "$t" "$f" && sync "$(dirname "$f")" || exit 74
)sh";

/// FILE BYTES OLD_SHA PID_FILE|""; standard input is the new text, whose lines are all the old
/// text's. With reload_script and withdraw_end behind it: in place, told to opensm, and its sum, in
/// one call. Only over a file that we put there, and nobody changed since.
inline constexpr std::string_view withdraw_script = R"sh(
f=$1 t=$1.tundish-new
umask 022
exec 9>"$f.tundish-lock" || exit 73
flock -w 5 9 || { echo 'another writer holds the lock' >&2; exit 75; }
cat >"$t" || exit 74
[ "$(wc -c <"$t")" -eq "$2" ] || { rm -f "$t"; echo 'the text came incomplete' >&2; exit 65; }
now=$(sha256sum <"$f"); now=${now%% *} tried=
read -r tried 2>/dev/null <"$f.tundish-tried"
[ "$now" = "$3" ] && [ "$tried" = "$3" ] ||
  { rm -f "$t"; echo 'somebody else changed the file' >&2; exit 76; }
chown --reference="$f" "$t" && chmod --reference="$f" "$t" || exit 74
sum=$(sha256sum <"$t"); sum=${sum%% *}
echo "$sum" >"$f.tundish-tried" || exit 74
sync "$t" && mv -f -T "$t" "$f" || exit 74
(
  set -- "$4"
)sh";
/// Follows withdraw_script and reload_script. The folder is synced when opensm was told: the file
/// that it reads is there.
inline constexpr std::string_view withdraw_end = R"sh(
) || exit
sync "$(dirname "$f")" || exit 74
echo "sha256 $sum"
)sh";

/// PID_FILE or "": tells opensm to read its files again.
inline constexpr std::string_view reload_script = R"sh(
if [ -n "$1" ]; then
  read -r pid <"$1" && kill -HUP "$pid" && exit 0
else
  found=1
  for p in /proc/[0-9]*; do
    read -r name <"$p/comm" 2>/dev/null && [ "$name" = opensm ] || continue
    grep -q -a tundish-canary "$p/environ" 2>/dev/null && continue
    kill -HUP "${p#/proc/}" && found=0
  done
  [ $found -eq 0 ] && exit 0
fi
echo 'opensm does not run here' >&2
exit 69
)sh";

}  // namespace tundish::fabrics
