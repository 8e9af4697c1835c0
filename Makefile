# SPDX-License-Identifier: Apache-2.0
# A thin front for CMake and scripts/. `make help` lists what there is.
PREFIX ?= /usr/local
# The shipped build leaves the tests out: it needs a compiler, cmake, ninja, expat, zlib and SQLite, and nothing else.
configure = cmake --preset release -DBERTH_TESTS=OFF >/dev/null

.PHONY: help setup build demo test check bench fuzz install clean
help:
	@sed -n 's/^\([a-z]*\):.*## /make \1\t/p' $(MAKEFILE_LIST)

setup: ## install what building needs (Debian packages), if something is missing
	@scripts/setup

build: setup ## build/berth, optimised
	@$(configure)
	@cmake --build build

demo: build ## place a bundled model, write plan.json
	@scripts/demo build/berth

test: ## everything that CI checks (about half an hour on two cores)
	@scripts/test

check: ## format, layers, banned calls, sizes, words, licences, scripts (seconds)
	@scripts/setup test
	@scripts/check

bench: build ## speed and memory against their limits
	@cmake --build build --target bench
	@scripts/bench build

fuzz: ## libFuzzer on every reader; FUZZ_SECONDS each
	@scripts/setup test
	@cmake --preset fuzz >/dev/null
	@cmake --build --preset fuzz
	@scripts/fuzz

install: setup ## command, libraries, headers and package files below PREFIX (DESTDIR is honoured)
	@$(configure) -DCMAKE_INSTALL_PREFIX=$(PREFIX)
	@cmake --build build
	@cmake --install build

clean: ## remove every build folder
	rm -rf build build-*
