BENCH_PYTHON := bench/.venv/bin/python

.PHONY: test check demo bench

EXAMPLES := weights classifier own_learner

# All tests: unit, property, golden values, documentation examples, the built program, and the example programs, which
# are built with the tests.
test:
	cargo test --workspace --locked
	set -e; for example in $(EXAMPLES); do $(or $(CARGO_TARGET_DIR),target)/debug/examples/$$example; done

# What must be clean before a change is handed in.
check:
	cargo fmt --all -- --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked

demo:
	cargo run --release -- demo

# The race against the peers: `make bench`, `make bench LANES="weights_a csv"`, `make bench SCALE=0.01` (a smoke run).
bench: bench/.venv/installed
	cargo build --release -p dolmen-bench
	$(BENCH_PYTHON) bench $(LANES) $(if $(SCALE),--scale $(SCALE))

bench/.venv/installed: bench/requirements.txt
	python3 -m venv --clear bench/.venv
	$(BENCH_PYTHON) -m pip install --quiet --disable-pip-version-check -r $<
	touch $@
