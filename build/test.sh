#!/usr/bin/env bash
# test.sh [quick]: the stages of `make test`, cheap ones first. Stops at the first red one and shows all that it said.
# Nothing here skips: a stage that can't run is red.
set -euo pipefail
cd "$(dirname "$0")/.."

# The app's window links GTK, which is dear to compile: with the flags of `make build` the work is shared.
app_tags=desktop,production,webkit2_41
log=$(mktemp)
trap 'rm -f "$log"' EXIT
summary=()

# stage NAME COMMAND...
stage() {
  local name=$1 begun=$EPOCHREALTIME status=0 seconds
  shift
  printf '  …   %s\n' "$name"
  "$@" >"$log" 2>&1 </dev/null || status=$?
  seconds=$(awk -v a="$begun" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }')
  if [ "$status" != 0 ]; then
    cat "$log"
    printf '\nred: %s, after %s s (exit code %s)\n' "$name" "$seconds" "$status"
    exit 1
  fi
  summary+=("$(printf '%8s s  %s' "$seconds" "$name")")
}

formatted() {
  local unformatted
  unformatted=$(gofmt -l ./*.go backend)
  [ -z "$unformatted" ] || { echo "not formatted by gofmt:"; echo "$unformatted"; return 1; }
}

stage "format"                 formatted
stage "vet"                    go vet ./...
stage "vet, the app"           go vet -trimpath -tags "$app_tags" .
stage "staticcheck"            go tool staticcheck ./...
stage "staticcheck, the app"   env GOFLAGS=-trimpath go tool staticcheck -tags "$app_tags" .
stage "generated files"        go run ./backend/gen -check
stage "front end, types"       npm --prefix frontend run check

if [ "${1:-}" != quick ]; then
  stage "front end, unit tests"  npm --prefix frontend test
  stage "Go tests, race detector" build/with-display.sh go test -race ./...
  stage "front end in a browser" build/test-ui.sh
  stage "the real window"        build/test-window.sh
fi

printf '\nAll green:\n'
printf '%s\n' "${summary[@]}"
printf '%8s s  in all\n' "$SECONDS"
