# Builds, shows and tests redlatch, one command each. Missing tools are installed first: see .ci/setup.
# Everything but `bench`, `wheel` and `natives` is built with cargo's profile `ci`, so that Rust, Python, jar and test agents share one build without LTO.

.PHONY: demo test chaos load failovers matrix mutants features nets session-nets bench wheel docs natives notices lint pins build clean setup setup-tests setup-bench setup-docs setup-release rust agents test-rust test-python test-java test-examples
.NOTPARALLEL:

VENV := target/venv/bin
MATURIN := PATH=$(CURDIR)/target/releasing/bin:$$PATH .ci/reproducible maturin
CORE := $(shell find Cargo.toml core -type f)
heading = @printf '\n== %s\n' "$(1)"

# Rust, Python and JVM processes share one key, live. TOPOLOGY=cluster, sentinel or redlock: on several servers, of which one is killed;
# ENGINE=mysql: on a MariaDB; ENGINE=zookeeper: on a ZooKeeper
demo: setup target/made/python target/made/jar target/made/demo
	@$(VENV)/python examples/demo/demo.py

# All checks of CI
test: setup-tests lint build docs test-rust test-python test-java test-examples

# Processes that lock for SECONDS while everything goes wrong, and a verdict. SEED=n brings the faults of an earlier run in their order,
# ONLY=replies one family of faults; KINDS=fair,semaphore takes no other locks; MODE=cluster has a cluster of one server
SECONDS := 600
chaos: setup
	cargo build --locked --profile ci --package redlatch-tests --bins
	REDLATCH_TEST_MODE=$(MODE) target/ci/redlatch-chaos $(SECONDS) $(or $(SEED),$(shell date +%s)) $(or $(ONLY),all) $(KINDS)

# Threads of every sort on JDK 17 and 25 that take Java's locks of every kind for MINUTES while clients, class loaders and servers come and go
MINUTES := 120
load: setup-tests target/made/jar
	gradle --console=plain --quiet -Pprofile=ci load
	tests/java/load/run $(MINUTES)

# Speed, beside other libraries and a bare socket; some eleven minutes on two slow CPUs. QUICK=1: two; ONLY=solo,crowd ROUNDS=9: a part
bench: setup-bench
	$(call heading,what is measured: the first time some eight minutes)
	bench/peers/build
	cd bench && ../target/bench/venv/bin/python -m harness $(if $(QUICK),--quick) $(if $(ROUNDS),--rounds $(ROUNDS)) \
		$(if $(WARM),--warm $(WARM)) $(if $(SCALE),--scale $(SCALE)) $(if $(ONLY),--only $(ONLY)) $(if $(PEERS),--peers $(PEERS))

# The contract on every server that is supported, alone and as a cluster; about half an hour
matrix: setup-tests
	tests/matrix/run

# Masters that die while a lock is held, and the count of overlaps; see tests/reliability/main.rs
ARGS := sentinel 20
failovers: setup
	cargo build --locked --profile ci --package redlatch-tests --bin redlatch-failovers
	target/ci/redlatch-failovers $(foreach word,$(ARGS),'$(word)')

# Deliberate defects, each of which its test must catch
mutants: setup
	tests/mutants/run

# The crate with each combination of its features; FEATURES='none tls-rustls-ring' tries some
features: setup
	.ci/features $(FEATURES)

# Every kind × operation × trouble, of which `make test` plays a spread; see tests/nets/README.md. NETS='read,extend' plays some cells
nets: setup
	REDLATCH_NETS='$(or $(NETS),all)' timeout 3600 cargo test --workspace --profile ci --test nets -- --nocapture

# The same for locks of MariaDB and ZooKeeper; see tests/session_nets/README.md
session-nets: setup-tests
	REDLATCH_SESSION_NETS='$(or $(NETS),all)' timeout 2400 cargo test --locked --workspace --profile ci --test session_nets -- --nocapture

# The published Python packages: a wheel and the sources of the library, and those of the command; with the tests of packaging on both wheels, which run
# with every glibc from 2.17 on. That of the library may have 5,000,000 bytes
wheel: setup-tests setup-release
	rm -rf target/wheels
	$(MATURIN) sdist --out target/wheels
	$(MATURIN) build --locked --release --zig --compatibility manylinux_2_17 --compression-level 9 --out target/wheels
	$(MATURIN) sdist --manifest-path cli/Cargo.toml --out target/wheels
	.ci/trim-sources target/wheels/*.tar.gz
	$(MATURIN) build --locked --release --zig --compatibility manylinux_2_17 --compression-level 9 --manifest-path cli/Cargo.toml --out target/wheels
	REDLATCH_TEST_WHEEL="$$(echo $(CURDIR)/target/wheels/redlatch-*.whl)" \
		REDLATCH_TEST_COMMAND_WHEEL="$$(echo $(CURDIR)/target/wheels/redlatch_cli-*.whl)" timeout 600 $(VENV)/pytest tests/python/test_packaging.py

# The native library of Linux on x86-64 for the published jar, which loads with every glibc from 2.17 on; see docs/releasing.md
natives: setup-release
	.ci/natives x86_64-unknown-linux-gnu

# The licences and the list of the foreign crates in jar and wheels, written anew after a change of Cargo.lock
notices:
	.ci/notices

# The Rust workspace, the Python package, the jar
build: setup rust target/made/python target/made/jar

# Formatters, linters, type checkers, and whether the deliberate defects still fit
lint: setup-tests target/made/python
	$(call heading,rustfmt and clippy)
	cargo fmt --all --check
	cargo clippy --locked --quiet --workspace --all-targets --profile ci -- -D warnings
	cargo fmt --check --manifest-path examples/service/Cargo.toml
	cargo clippy --locked --quiet --manifest-path examples/service/Cargo.toml --target-dir target/service -- -D warnings
	$(call heading,ruff and mypy and pyright and stubtest)
	$(VENV)/ruff check python tests examples bench docs/site
	$(VENV)/ruff format --check python tests examples bench docs/site
	$(VENV)/mypy
	cd examples/demo && ../../$(VENV)/mypy --config-file ../../pyproject.toml .
	$(VENV)/pyright
	$(VENV)/python -m mypy.stubtest --mypy-config-file pyproject.toml --allowlist tests/api/stubtest.txt redlatch
	$(call heading,the defects of tests/mutants fit)
	git apply --check tests/mutants/*.patch

# The site of the documentation, in target/docs/site: open index.html there, no server is needed. A warning, such as a link that leads nowhere, is an error
docs: setup-docs target/made/python
	$(call heading,the site of the documentation: ten seconds)
	rm -rf target/docs/site
	PYTHONPATH=python target/docs/venv/bin/sphinx-build --fail-on-warning --keep-going --quiet -b html -d target/docs/doctrees -c docs/site . target/docs/site

# Removes all builds, the virtual environment included
clean:
	rm -rf target build .gradle

# Looks for newer versions of the tools and of the benchmark's peers, and pins them: the one place where versions are chosen
pins:
	.ci/pin

setup:
	@.ci/setup demo $(ENGINE)

setup-tests:
	@.ci/setup test

setup-docs:
	@.ci/setup docs

setup-bench:
	@.ci/setup bench

setup-release:
	@.ci/setup release

rust:
	$(call heading,the Rust workspace with its tests: the first time some four minutes)
	cargo build --locked --workspace --all-targets --profile ci

target/made/python: $(CORE) pyproject.toml $(shell find python -type f -not -name '*.pyc' -not -name '*.so')
	$(call heading,the Python package and all that is below it: the first time some three minutes on two CPUs)
	VIRTUAL_ENV=$(CURDIR)/target/venv PYO3_BUILD_EXTENSION_MODULE=1 PYO3_CONFIG_FILE=$(CURDIR)/python/native/pyo3.txt \
		$(VENV)/maturin develop --locked --quiet --profile ci
	@mkdir -p target/made && touch $@

target/made/jar: $(CORE) build.gradle settings.gradle $(shell find java -type f)
	$(call heading,the jar: the first time half a minute)
	gradle --console=plain --quiet -Pprofile=ci jar
	@mkdir -p target/made && touch $@

target/made/demo: target/made/jar examples/demo/worker.rs examples/demo/Worker.java
	$(call heading,the workers of the demo: some seconds)
	cargo build --locked --profile ci --package redlatch-python --package redlatch-jni --package redlatch-demo
	javac -Xlint -Werror -d target/demo -cp "$$(echo build/libs/redlatch-*[0-9].jar)" examples/demo/Worker.java
	@touch $@

agents: build
	$(call heading,the agents of the cross-language tests)
	tests/agents/build

test-rust: agents
	$(call heading,tests: Rust and across languages)
	timeout 2700 cargo test --locked --workspace --profile ci
	$(call heading,tests: across languages on a cluster)
	REDLATCH_TEST_MODE=cluster timeout 600 cargo test --locked --workspace --profile ci --test cross

test-python: build
	$(call heading,tests: Python)
	timeout 900 $(VENV)/pytest --numprocesses 3 --dist worksteal tests/python

test-java: build
	$(call heading,tests: Java on two JDKs at once)
	gradle --console=plain --quiet -Pprofile=ci jar testClasses
	tests/java/both $(if $(REDLATCH_NEEDS_JDK25),-PneedsJdk25)
	$(call heading,tests: beside Redisson and in Spring Boot)
	timeout 900 gradle --console=plain --quiet -Pprofile=ci besides
	timeout 600 gradle --console=plain --quiet -Pprofile=ci springBoot35 springBoot40
	$(call heading,tests: in coroutines of Kotlin, on two JDKs)
	timeout 600 gradle --console=plain --quiet -Pprofile=ci kotlinJunit kotlinJunit25
	$(call heading,the published jar in a Gradle and a Maven project)
	timeout 600 tests/consumers/run

test-examples: build target/made/demo
	$(call heading,examples)
	$(VENV)/python examples/run.py
	$(VENV)/python examples/demo/demo.py
	ENGINE=mysql $(VENV)/python examples/demo/demo.py
	ENGINE=zookeeper $(VENV)/python examples/demo/demo.py
