#!/usr/bin/env bash
# Sets a machine up for Chaperone: everything that `make run`, `make demo` and `make test` need.
# It may be called as often as one likes; with nothing to do it is done in well under a second.
set -euo pipefail
cd "$(dirname "$0")/.."

say()  { printf 'setup: %s\n' "$*"; }
fail() { printf 'setup: %s\n' "$@" >&2; exit 1; }

# What must be there: how to see it, and the Debian package that brings it. The only list of system needs.
has() { command -v "$1" >/dev/null; }
chromium_here() {
  [ -n "${CHAPERONE_CHROMIUM:-}" ] || has chromium || has chromium-browser || has google-chrome-stable || has google-chrome
}
# Chromium's sandbox wants user namespaces or Debian's helper; root runs without it.
sandbox_here()  { [ "$(id -u)" = 0 ] || unshare --user true 2>/dev/null || [ -e /usr/lib/chromium/chrome-sandbox ]; }
font_here()     { has fc-list && [ -n "$(fc-list :scalable=true family | head -n 1)" ]; }
lib_here()      { has pkg-config && pkg-config --exists "$1" 2>/dev/null; }
c_here()        { has gcc && [ -e /usr/include/stdlib.h ]; }
needs=(
  "c_here|gcc"                              # cgo: the app's window, and Go's race detector
  "c_here|libc6-dev"
  "has pkg-config|pkg-config"
  "lib_here gtk+-3.0|libgtk-3-dev"          # the app's window
  "lib_here webkit2gtk-4.1|libwebkit2gtk-4.1-dev"
  "chromium_here|chromium"                  # the agents' windows
  "sandbox_here|chromium-sandbox"
  "font_here|fonts-dejavu-core"
  "has fc-list|fontconfig"
  "has Xvfb|xvfb"                           # a desktop for tests, and for the demo where there is none
  "has openbox|openbox"
  "has dbus-daemon|dbus"
  "has xdotool|xdotool"                     # the scripted person's hands and eyes
  "has xdpyinfo|x11-utils"
  "has import|imagemagick"
  "has setpriv|util-linux"
  "has ps|procps"
  "[ -e /etc/ssl/certs/ca-certificates.crt ]|ca-certificates"
)

missing_packages() {
  local need
  for need in "${needs[@]}"; do
    eval "${need%%|*}" || printf '%s\n' "${need##*|}"
  done
}

install_packages() {
  local packages=("$@") as_root=()
  if ! has apt-get; then
    fail "this is not Debian or Ubuntu, so nothing was installed. Missing, by their Debian names:" \
      "  ${packages[*]}" "Install these by your system's own means, then run the same command again."
  fi
  if [ "$(id -u)" != 0 ]; then
    has sudo || fail "missing: ${packages[*]}" "Install them as root: apt-get install ${packages[*]}"
    as_root=(sudo)
  fi
  say "installing by apt: ${packages[*]}"
  "${as_root[@]}" apt-get -q update
  if [[ " ${packages[*]} " == *" chromium "* ]] && ! real_chromium_package; then
    fail "this system's chromium package is a snap, which cannot be given a profile directory of its own." \
      "Install Google Chrome's .deb from https://www.google.com/chrome/, or set CHAPERONE_CHROMIUM" \
      "to the path of a Chromium, then run the same command again."
  fi
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get -q install -y --no-install-recommends -o Dpkg::Use-Pty=0 "${packages[@]}"
}

# Ubuntu has no chromium of its own: what it calls so is a way to a snap, or nothing.
real_chromium_package() {
  local candidate
  candidate=$(apt-cache policy chromium | sed -n 's/^ *Candidate: //p')
  [ -n "$candidate" ] && [ "$candidate" != "(none)" ] && [[ "$candidate" != *snap* ]]
}

# version_at_least HAVE WANT: both as major.minor.
version_at_least() { [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]; }

has go   || fail "Go 1.26 or newer is needed: https://go.dev/dl/ (or your system's package), with go on the PATH."
has node || fail "Node 20 or newer is needed: https://nodejs.org/ (or your system's package), with node on the PATH."
has npm  || fail "npm is needed; it comes with Node from https://nodejs.org/, or as the package npm."
go_version=$(go env GOVERSION); go_version=${go_version#go}
node_version=$(node --version); node_version=${node_version#v}
version_at_least "$go_version" 1.26 || fail "Go $go_version is too old; 1.26 or newer is needed: https://go.dev/dl/"
version_at_least "$node_version" 20 || fail "Node $node_version is too old; 20 or newer is needed: https://nodejs.org/"

if [ "$(uname -s)" = Linux ]; then
  mapfile -t missing < <(missing_packages)
  if [ "${#missing[@]}" -gt 0 ]; then
    install_packages "${missing[@]}"
    mapfile -t missing < <(missing_packages)
    [ "${#missing[@]}" = 0 ] || fail "still missing after the installation: ${missing[*]}"
  fi
else
  chromium_here || say "Chromium or Chrome was not found on the PATH; the agents' windows need one."
  say "on $(uname -s) the app builds, but 'make test' and the unattended demo need Linux with Xvfb."
fi

# The stamp holds what was installed, so a changed lock file installs anew and an aborted run is not taken for done.
stamp=frontend/node_modules/.installed
if ! cmp -s frontend/package-lock.json "$stamp"; then
  say "installing the front end's packages (npm ci)"
  (cd frontend && npm ci --no-audit --no-fund --loglevel=error)
  cp frontend/package-lock.json "$stamp"
fi

go mod download
