#!/usr/bin/env bash
# with-display.sh COMMAND...: runs COMMAND on a desktop of its own (a virtual X display with a window manager and a
# session bus) and ends that desktop afterwards. The exit code is the command's.
set -euo pipefail
[ $# -gt 0 ] || { echo "usage: with-display.sh COMMAND..." >&2; exit 2; }

ready_within=20   # seconds for each of the three; they take under one, loaded machines more
scratch=$(mktemp -d)
log=$scratch/log
started=()

# setsid keeps Ctrl+C, which goes to the command, away from the desktop under it; setpriv ends it even if this script
# is killed.
start() { setsid setpriv --pdeathsig KILL "$@" >>"$log" 2>&1 & started+=($!); }
end() {
  local i
  for ((i = ${#started[@]} - 1; i >= 0; i--)); do
    kill "${started[i]}" 2>/dev/null || true
    wait "${started[i]}" 2>/dev/null || true
  done
  rm -rf "$scratch"
}
trap end EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
fail() { echo "with-display: $1" >&2; cat "$log" >&2; exit 1; }

# The X server takes a free display by itself and writes its number once it accepts connections. Keys do not repeat (-r):
# on a busy machine a scripted press would seem to last.
mkfifo "$scratch/number" "$scratch/managed" "$scratch/bus"
exec {number}<>"$scratch/number" {managed}<>"$scratch/managed" {bus}<>"$scratch/bus"
start Xvfb -displayfd "$number" -screen 0 "${CHAPERONE_SCREEN:-1400x900x24}" -nolisten tcp -noreset -r
read -r -t "$ready_within" display <&"$number" || fail "the virtual display did not start within $ready_within s"

export DISPLAY=:$display GDK_BACKEND=x11
unset WAYLAND_DISPLAY XAUTHORITY

start openbox --sm-disable --startup "sh -c 'echo ready >\"$scratch/managed\"'"
read -r -t "$ready_within" _ <&"$managed" || fail "the window manager did not start within $ready_within s"
start dbus-daemon --session --nofork --nopidfile --print-address="$bus"
read -r -t "$ready_within" DBUS_SESSION_BUS_ADDRESS <&"$bus" || fail "no session bus within $ready_within s"
export DBUS_SESSION_BUS_ADDRESS
exec {number}>&- {managed}>&- {bus}>&-

"$@"
