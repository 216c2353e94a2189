#!/usr/bin/env bash
# test-ui.sh: the front end in a real browser against a real host (the test kit's), by Playwright.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ "${1:-}" != on-display ]; then
  mkdir -p build/bin
  go build -o build/bin/uihost ./backend/testkit/uihost
  exec build/with-display.sh "$0" on-display
fi

# The host says its address in its first line; it ends when its stdin does, so it can't outlive this script.
coproc host { exec build/bin/uihost; }
pid=$host_PID
trap 'kill "$pid" 2>/dev/null || true; wait "$pid" 2>/dev/null || true' EXIT
read -r -t 30 CHAPERONE_UI_URL <&"${host[0]}" || { echo "the test host said no address within 30 s" >&2; exit 1; }
export CHAPERONE_UI_URL
: "${CHAPERONE_CHROMIUM:=$(command -v chromium chromium-browser google-chrome-stable google-chrome | head -n 1)}"
export CHAPERONE_CHROMIUM
npm --prefix frontend run e2e
