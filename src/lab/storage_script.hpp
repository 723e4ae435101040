#pragma once
// `storage-export` on the lab's storage: what a driver calls over ssh. An export is a folder of one
// tenant, a key that opens it, and the addresses that may use it; an address is of one export at a
// time, and is given to the next only when none of its sessions is left.
#include <string_view>

namespace tundish::lab {

/// POSIX sh with coreutils, util-linux, iproute2 and nftables. Exit codes after sysexits.h.
inline constexpr std::string_view storage_script = R"sh(#!/bin/sh
# storage-export list | sessions | keys | create NAME <PUBLIC_KEY | remove NAME
#                | grant NAME ADDRESS | revoke NAME ADDRESS | restore | hostkey
set -u
state=/etc/storage/exports keys=/etc/ssh/exports data=/srv/exports shared=/srv/shared
read -r here </etc/storage/address
fail() { code=$1; shift; echo "storage-export: $*" >&2; exit "$code"; }

check_name() {
  printf '%s' "$1" | grep -Eqx '[a-z][a-z0-9-]{0,30}' || fail 64 "'$1' is no name of an export"
}
check_address() {
  printf '%s' "$1" | grep -Eqx '([1-9][0-9]{0,2}\.)([0-9]{1,3}\.){2}[0-9]{1,3}' ||
    fail 64 "'$1' is no IPv4 address"
}
check_export() { check_name "$1"; [ -d "$state/$1" ] || fail 66 "there is no export $1"; }

# PEER_ADDRESS PEER_PORT PIDS of each connection that somebody may still use.
connections() {
  ss -Htnp state established state syn-recv state close-wait '( sport = :22 )' src "$here" |
    awk '{ peer = $5; n = split(peer, at, ":"); pids = ""
           while (match($0, /pid=[0-9]+/)) {
             pids = pids (pids == "" ? "" : ",") substr($0, RSTART + 4, RLENGTH - 4)
             $0 = substr($0, RSTART + RLENGTH) }
           print at[1], at[n], pids == "" ? "-" : pids }'
}
owner_of() { grep -lxF "$1" "$state"/*/sources 2>/dev/null | head -n 1 | cut -d/ -f5; }

replace() { cat >"$1.new" && chmod "$2" "$1.new" && mv -f -T "$1.new" "$1"; }
# sshd reads this file anew for each login.
write_key() {
  sources=$(paste -sd, "$state/$1/sources")
  line=
  [ -z "$sources" ] || line="restrict,from=\"$sources\" $(cat "$state/$1/key")"
  printf '%s\n' "$line" | replace "$keys/$1" 644
}
attach() {
  mkdir -p "$data/$1/data" "$shared/$1" && chmod 755 "$data/$1" || return
  mountpoint -q "$data/$1/data" || mount --bind "$shared/$1" "$data/$1/data"
}
let_in() { nft add element inet storage granted "{ $1 }"; }
shut_out() { nft delete element inet storage granted "{ $1 }" 2>/dev/null; }

create() {
  check_name "$1"
  key=$(head -n 1)
  printf '%s' "$key" | grep -Eqx 'ssh-ed25519 [A-Za-z0-9+/=]{20,200}( [ -~]*)?' ||
    fail 64 "the key is not one line of ssh-ed25519"
  # Whoever comes later under the same name is somebody else, and these are not its files.
  [ ! -s "$state/$1/key" ] ||
    [ "$(cut -d' ' -f2 "$state/$1/key")" = "$(printf '%s' "$key" | cut -d' ' -f2)" ] ||
    fail 73 "export $1 is there with another key; remove it first: storage-export remove $1"
  mkdir -p "$state/$1" && touch "$state/$1/sources" && attach "$1" || fail 74 'cannot make folders'
  printf '%s\n' "$key" | replace "$state/$1/key" 600
  # Node software writes for many users: the export keeps their numbers, as the tenant's own root.
  gid=$(getent group exports | cut -d: -f3)
  grep -q "^$1:" /etc/passwd ||
    echo "$1:x:0:$gid:export:/nonexistent:/usr/sbin/nologin" >>/etc/passwd
  grep -q "^$1:" /etc/shadow || echo "$1:*:19000:0:99999:7:::" >>/etc/shadow
  write_key "$1"
}

remove() {
  check_export "$1"
  sources=$(paste -sd' ' "$state/$1/sources")
  [ -z "$sources" ] || fail 75 "$1 is still granted to $sources"
  umount "$data/$1/data" || fail 75 "the folder of $1 is in use"
  rm -rf "$keys/$1" "$state/$1" "${data:?}/$1" "${shared:?}/$1"
  sed -i "/^$1:/d" /etc/passwd /etc/shadow
}

grant() {
  check_export "$1"; check_address "$2"
  owner=$(owner_of "$2")
  [ -z "$owner" ] || [ "$owner" = "$1" ] || fail 75 "$2 is granted to $owner; revoke it there first"
  if [ -z "$owner" ]; then
    connections | grep -q "^$2 " && fail 75 "$2 still has sessions"
    { cat "$state/$1/sources"; echo "$2"; } | sort -u | replace "$state/$1/sources" 600
  fi
  write_key "$1" && let_in "$2"
}

# Packets first, then logins, then what runs; comes back when nothing of the address is left.
revoke() {
  check_export "$1"; check_address "$2"
  owner=$(owner_of "$2")
  [ -z "$owner" ] || [ "$owner" = "$1" ] || fail 75 "$2 is granted to $owner, not to $1"
  shut_out "$2"
  grep -vxF "$2" "$state/$1/sources" | replace "$state/$1/sources" 600
  write_key "$1"
  for try in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18; do
    left=$(connections | grep "^$2 ") || { echo "gone $2"; return; }
    # While the process lives, so that the client gets a reset and does not wait for more.
    ss -HtnK '( sport = :22 )' src "$here" dst "$2" >/dev/null 2>&1
    echo "$left" | cut -d' ' -f3 | tr ',' '\n' | grep -x '[0-9]*' | xargs -r kill -9 2>/dev/null
    [ "$try" = 1 ] || sleep 0.05
  done
  fail 75 "sessions of $2 will not end: $left"
}

list() {
  for folder in "$state"/*/; do
    [ -d "$folder" ] || continue
    name=$(basename "$folder")
    echo "export $name$(sed 's/^/ /' "$folder/sources" | tr -d '\n')"
  done
}

sessions() {
  connections | while read -r address port pids; do
    echo "session $(owner_of "$address" | grep . || echo -) $address $port $pids"
  done
}

# What sshd would take, and not what create was given: whoever writes there opens the export.
keys() {
  for folder in "$state"/*/; do
    name=$(basename "$folder")
    [ ! -f "$keys/$name" ] || awk -v name="$name" '!/^[ \t]*#/ { for (i = 1; i < NF; i++)
      if ($i ~ /^(ssh|ecdsa|sk)-[a-z0-9@.-]+$/) print "key", name, $i, $(i + 1) }' "$keys/$name"
  done
}

hostkey() { echo "hostkey $(ssh-keygen -y -f /etc/ssh/ssh_host_ed25519_key)"; }

restore() {
  mkdir -p "$state" "$keys" "$data"
  for folder in "$state"/*/; do
    [ ! -d "$folder" ] || attach "$(basename "$folder")" || fail 74 "cannot attach $folder"
  done
  for file in "$state"/*/sources; do
    [ -s "$file" ] || continue
    while read -r address; do let_in "$address"; done <"$file"
  done
}

verb=${1:-}
[ $# -gt 0 ] && shift
case $verb in
  list | sessions | keys | restore | hostkey) [ $# -eq 0 ] || fail 64 "$verb takes nothing" ;;
  create | remove) [ $# -eq 1 ] || fail 64 "$verb needs NAME" ;;
  grant | revoke) [ $# -eq 2 ] || fail 64 "$verb needs NAME ADDRESS" ;;
  *) fail 64 'list, sessions, keys, create, remove, grant, revoke, restore or hostkey' ;;
esac
case $verb in
  list | sessions | keys | hostkey) ;;
  *) exec 9>/run/storage-export.lock && flock -w 5 9 || fail 75 'another change takes too long' ;;
esac
"$verb" "$@"
)sh";

}  // namespace tundish::lab
