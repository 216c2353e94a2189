# Chaperone's commands; `make help` lists them. Every one sets up by itself what it needs.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

BIN      := build/bin
# Wails needs these to make a real window: its desktop runtime, embedded assets, WebKitGTK 4.1.
APP_TAGS := desktop,production,webkit2_41
# The binaries are the same wherever and from whatever checkout they are built.
GO_BUILD := go build -trimpath -buildvcs=false -ldflags "-s -w"
# What the front end is built from; directories too, for a file that was removed changes only these.
UI_INPUTS = $(shell find frontend -maxdepth 1 -type f; find frontend/src frontend/public)

.PHONY: help setup run demo test check bench build ui generate clean

help: ## List the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' Makefile

setup: ## Install what is missing: system packages, front-end packages, Go modules
	@build/setup.sh

run: build ## Open the app
	@exec $(BIN)/chaperone-desktop

demo: build ## Show the main job: an agent shops, you decide; without a display a script does, for demo-out/
	@go build -o $(BIN)/demo ./backend/demo
	@if [ -n "$${DISPLAY:-}" ] && [ -z "$${CI:-}" ]; then exec $(BIN)/demo; \
	  else exec build/with-display.sh $(BIN)/demo -person scripted; fi

test: build ## Run every check and every test
	@exec build/test.sh

check: setup ## Run the quick checks alone: format, vet, staticcheck, generated files, types
	@exec build/test.sh quick

bench: build ## Measure against a bare client on the same Chromium
	@exec build/with-display.sh go run ./backend/bench

build: setup ui ## Build the app and the agents' program into build/bin
	@CGO_ENABLED=0 $(GO_BUILD) -o $(BIN)/chaperone ./backend/cmd/chaperone
	@$(GO_BUILD) -tags $(APP_TAGS) -o $(BIN)/chaperone-desktop .

ui: setup frontend/dist/index.html ## Build the front end into frontend/dist

frontend/dist/index.html: $(UI_INPUTS)
	@cd frontend && npm run --silent build && touch dist/index.html

generate: setup ## Write the files that are made from the Go sources
	@go run ./backend/gen

clean: ## Remove what was built
	@rm -rf $(BIN) demo-out frontend/test-results && find frontend/dist -mindepth 1 ! -name .gitkeep -delete
