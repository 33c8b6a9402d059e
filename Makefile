# Short commands for every task. Meson builds (meson.build); this file only calls it, after scripts/setup has
# installed what is missing. `make help` prints the list.

BUILD ?= build
SOAK ?= 100000000
FUZZ ?= 30
N ?= 4000000
PREFIX ?= /usr/local
CONTESTANTS ?=
CONTESTANT_ARGS ?= -O3 -march=native
CONTESTANT_LINKS ?=

version = $(shell sed -n "s/.*version: '\([0-9.]*\)',/\1/p" meson.build | head -1)

# Words with commas between them, as options of meson are written.
empty :=
comma := ,
with_commas = $(subst $(empty) $(empty),$(comma),$(strip $(1)))

.PHONY: help all demo test test-long builds check sanitize sanitize-threads soak fuzz cross analyse coverage trust bench bench-report lab web test-web deb test-deb site test-site dist test-dist python amalgamation redis demo-redis test-redis bench-redis gpu test-gpu bench-gpu lint format install uninstall clean

help: ## Print this list
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

all: ## Build the library and the tools in build/
	@scripts/setup build
	@scripts/build $(BUILD) products

demo: ## Build, and show the main features on real words, in a minute
	@scripts/setup build demo
	@scripts/build $(BUILD) demo
	@scripts/demo $(BUILD)

test: ## Build and run the tests (within 15 minutes on 2 cores); ends with "N passed, N failed"
	@scripts/setup build test python python-test redis gpu
	@scripts/build $(BUILD)
	@scripts/lint $(BUILD)
	@scripts/run-tests $(BUILD) --no-suite builds --no-suite long

test-long: ## The same tests with more operations, tables and choices; all results of the lab: half an hour
	@scripts/setup build test
	@scripts/build $(BUILD)
	@scripts/run-tests $(BUILD) --suite long

builds: ## Test install and uninstall, and builds with -Og and other -march: several minutes
	@scripts/setup build test python python-test
	@scripts/build $(BUILD)
	@scripts/run-tests $(BUILD) --suite builds

check: ## The quick part of the tests (two minutes on 2 cores), and the lint
	@scripts/setup build test python python-test
	@scripts/build $(BUILD)
	@scripts/lint $(BUILD)
	@scripts/run-tests $(BUILD) --suite quick

sanitize: ## Run the tests under AddressSanitizer and UndefinedBehaviorSanitizer
	@scripts/setup build test python python-test
	@scripts/build build-sanitize -Db_sanitize=address,undefined -Dc_args=-fno-sanitize-recover=all -Dbuildtype=debugoptimized -Db_lundef=false
	@scripts/run-tests build-sanitize --suite quick --suite medium --suite portable --suite sse4

sanitize-threads: ## Run everything with threads under ThreadSanitizer: shared sets, the tools, the Redis module
	@scripts/setup build test redis
	@scripts/sanitize-threads

# Each of the subjects (a kind, on an instruction set, in a variant) gets so many operations. What is done is in
# journals in the build folder, so a soak that was stopped goes on where it was. Remove them to begin again.
soak: ## Run the laws for as long as you like: make soak SOAK=100000000 (operations each); a stopped run continues next time
	@scripts/setup build test
	@scripts/build $(BUILD)
	@$(BUILD)/tests/laws/soak_sets --ops $(SOAK) --journal $(BUILD)/soak-sets.journal
	@$(BUILD)/tests/laws/soak_states --ops $(SOAK) --journal $(BUILD)/soak-states.journal
	@$(BUILD)/tests/share/crowd --threads 8 --to 10000000 --lookups $(SOAK)

fuzz: ## Run libFuzzer on fourteen targets: make fuzz FUZZ=30 (seconds each)
	@scripts/setup build fuzz
	@scripts/build $(BUILD)
	@scripts/fuzz $(FUZZ)

cross: ## Test other machines, compilers and flags: make cross CROSS="s390x aarch64 i386 nehalem musl clang native O0 Og lto"
	@scripts/setup build test
	@scripts/cross $(CROSS)

analyse: ## Static analysis: warnings of two compilers, stack frames, cppcheck, clang-tidy, gcc -fanalyzer
	@scripts/analyse

coverage: ## Measure which lines and branches of src/ the tests reach: build-coverage/coverage.html; fails below 95% of lines
	@scripts/setup build test redis coverage
	@scripts/coverage

# Every check of docs/reliability.md in its long form. Results: tests/trust.txt.
trust: ## Run all long checks, some hours: make trust TRUST="power killed" FUZZ=3600
	@FUZZ=$(if $(filter command% environment%,$(origin FUZZ)),$(FUZZ),3600) scripts/trust $(TRUST)

# With contestants from outside, in a folder of its own: their files may be gone when BUILD is built again.
bench: ## Compare speed and space with libbloom and DPDK: make bench N=4000000; with your own filter: CONTESTANTS=mine.c
	@scripts/setup build bench
ifeq ($(strip $(CONTESTANTS)),)
	@scripts/build $(BUILD)
	@$(BUILD)/tamis-bench --n $(N)
else
	@scripts/build $(BUILD)-contestants tamis-bench -Dtests=disabled \
		'-Dcontestants=$(call with_commas,$(CONTESTANTS))' \
		'-Dcontestant_args=$(call with_commas,$(CONTESTANT_ARGS))' \
		'-Dcontestant_links=$(call with_commas,$(CONTESTANT_LINKS))'
	@$(BUILD)-contestants/tamis-bench --n $(N)
endif

bench-report: ## Measure, draw and write the tables of docs/performance*.md (up to an hour): RUNS="peers pages"
	@scripts/setup build bench
	@scripts/build $(BUILD)
	@bench/report $(BUILD) $(RUNS)

lab: ## Measure the numbers of the papers again: lab/report/index.html; make lab LAB=--full
	@scripts/setup build lab
	@scripts/build $(BUILD)
	@lab/page/make-report $(BUILD) lab/report $(LAB)

web: ## Build the JavaScript package (build/web/core/) and the web page (build/web/tamis.html)
	@scripts/setup build emscripten
	@scripts/build $(BUILD) amalgamation
	@web/build $(BUILD)

test-web: web lab ## Test the JavaScript package in node, and the web page and the lab's report in a headless browser
	@scripts/setup build web
	@scripts/build $(BUILD) products
	@node web/test/core.mjs $(BUILD)
	@web/test/check-page $(BUILD)
	@lab/page/check-report lab/report/results.json lab/report/index.html bench/results

deb: ## Build Debian packages in build/deb/, checked by lintian; CHROOT=1: in a clean Debian 12
	@scripts/setup build deb $(if $(CHROOT),test-deb)
	@scripts/deb $(BUILD)/deb $(if $(CHROOT),$(BUILD)/clean-build)

test-deb: deb ## Install, use and purge the packages in a clean Debian 12 (debootstrap, as root)
	@scripts/setup test-deb
	@scripts/test-deb $(BUILD)/deb $(BUILD)/clean

site: web lab ## Build a searchable site of the documents, the web page, the API and the lab's report: build/site/
	@scripts/setup build site
	@scripts/build $(BUILD) products
	@site/build $(BUILD) $(BUILD)/site

test-site: site ## Test the site: links, search, and that every code block is run by a test or says why not
	@scripts/setup web
	@site/check $(BUILD)/site
	@site/check-browser $(BUILD)/site
	@site/check-blocks

dist: ## Make a release, build/dist/tamis-VERSION.tar.gz, that builds without git
	@scripts/dist $(BUILD)/dist

test-dist: dist ## Unpack the release where there is no git, and build it
	@rm -rf $(BUILD)/unpacked && mkdir -p $(BUILD)/unpacked
	@tar -C $(BUILD)/unpacked -xzf $(BUILD)/dist/tamis-$(version).tar.gz
	@cd $(BUILD)/unpacked/tamis-$(version) && GIT_DIR=/nonexistent $(MAKE) all && build/tamis --version

python: ## Build a wheel and a source distribution of the Python package in build/dist/ (CPython 3.11 and later)
	@scripts/setup build python
	@/usr/bin/python3 python/backend/tamis_build.py $(BUILD)/dist
	@/usr/bin/python3 python/backend/tamis_build.py $(BUILD)/dist sdist

amalgamation: ## Write the library as one file: build/amalgamation/tamis.c and tamis.h
	@scripts/setup build
	@scripts/build $(BUILD) amalgamation
	@ls $(BUILD)/amalgamation/tamis.c $(BUILD)/amalgamation/tamis.h

redis: ## Build the Redis module, build/tamis-redis.so
	@scripts/setup build
	@scripts/build $(BUILD) redis

demo-redis: redis ## Show the Redis module on a private server
	@scripts/setup redis
	@scripts/demo-redis $(BUILD)

test-redis: redis ## Run all tests of the Redis module, with Python and node, on private servers
	@scripts/setup redis redis-node
	@scripts/build $(BUILD) products
	@tests/redis/run-tests $(BUILD) all

bench-redis: redis ## Compare the speed of the Redis module with SET, GET and DEL of the same server
	@scripts/setup redis
	@tests/redis/measure $(BUILD)/tamis-redis.so
	@tests/redis/measure-cluster $(BUILD)

gpu: ## Build libtamis-gpu.so, sets on an NVIDIA GPU (docs/gpu.md); needs no CUDA
	@scripts/setup build gpu
	@scripts/build $(BUILD) gpu

test-gpu: ## Run all tests of sets on the GPU of this machine; sets of up to N keys are compared with the CPU's
	@scripts/setup build test python python-test gpu
	@scripts/build $(BUILD) gpu-tests
	@gpu/test-gpu $(BUILD) $(N)

bench-gpu: gpu ## Measure lookups, adds and removals on the GPU: make bench-gpu N=1000000000
	@$(BUILD)/tamis-gpu-bench speed $(N)

lint: ## Check includes, forbidden functions and the length of functions
	@scripts/lint $(BUILD)

format: ## clang-format over all sources
	@scripts/setup format
	@git ls-files '*.c' '*.h' | xargs clang-format -i

# Meson asks dpkg-architecture for the folder of libraries. Where Debian has no dpkg-dev it takes lib64, in which neither
# pkg-config nor the linker looks.
multiarch = $(shell gcc -print-multiarch 2>/dev/null)

install: ## Install under PREFIX (default /usr/local), below DESTDIR if that is set
	@scripts/setup build
	@scripts/build $(BUILD) products --prefix=$(PREFIX) $(if $(multiarch),--libdir=lib/$(multiarch))
	@meson install -C $(BUILD) --no-rebuild

uninstall: ## Remove the files that the last install of this build folder installed
	@ninja -C $(BUILD) uninstall

clean: ## Remove all built files
	@rm -rf build build-*
