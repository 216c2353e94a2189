#!/usr/bin/env bash
# test-window.sh: the real window once. The demo is the test: it opens the built app on a desktop of its own, sees that
# the window is not blank, lets an agent in through the built bridge, answers its questions with the keyboard in the
# window, checks what the agent gets, and that nothing is left afterwards. Pictures stay in demo-out/.
set -euo pipefail
cd "$(dirname "$0")/.."
go build -o build/bin/demo ./backend/demo
exec build/with-display.sh build/bin/demo -person scripted
