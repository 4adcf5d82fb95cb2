BENCH_PYTHON := bench/.venv/bin/python

.PHONY: test test-rust test-python test-page check demo bench book update-book results

EXAMPLES := weights classifier own_learner
TARGET := $(or $(CARGO_TARGET_DIR),target)
VENV := $(TARGET)/python

# All tests: unit, property, golden values, documentation examples, the built program, and the example programs, which
# are built with the tests.
test: test-rust test-python

test-rust:
	cargo test --workspace --locked
	set -e; for example in $(EXAMPLES); do $(TARGET)/debug/examples/$$example; done

# The Python package in an environment of its own: built as the tests are, then pytest and the example programs.
test-python: $(VENV)/installed
	VIRTUAL_ENV=$(abspath $(VENV)) $(VENV)/bin/maturin develop --profile dev --locked --quiet
	$(VENV)/bin/python -m pytest -q -n 2 python/tests
	set -e; for example in python/examples/*.py; do echo $$example; $(VENV)/bin/python $$example > /dev/null; done

$(VENV)/installed: python/requirements.txt
	python3 -m venv --clear $(VENV)
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	touch $@

# The report's page in a real browser; `make test` does so, too, where Chromium and chromedriver are there.
# SHOTS=FOLDER keeps screenshots.
test-page:
	@command -v chromedriver >/dev/null || { echo 'Chromium and its driver are needed: apt-get install chromium chromium-driver'; exit 1; }
	DOLMEN_BROWSER=$(or $(SHOTS),1) cargo test -p dolmen-report --test browser --locked -- --nocapture

# What must be clean before a change is handed in.
check:
	cargo fmt --all -- --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked

# The book as HTML, in target/book; as Markdown it reads well without.
book:
	@command -v mdbook >/dev/null || { echo 'mdbook is needed: cargo install mdbook'; exit 1; }
	mdbook build book --dest-dir $(abspath $(TARGET))/book

# Writes what the program says now into the book: outputs, tables of parameters, pictures, the list of results.
update-book:
	DOLMEN_UPDATE=1 cargo test -p dolmen-cli --test book --locked

# The pages of results in the book, from full runs: hours, most of them for cm05-table2. `make results ONLY="sw99-fig1 him19"` makes some
# anew, `DATA=FOLDER` brings the sets that may not be carried (the pages name the files).
results:
	cargo build --release --locked
	$(TARGET)/release/dolmen reproduce $(or $(ONLY),--all) $(if $(DATA),--data $(DATA)) -o book/src/results
	DOLMEN_UPDATE=1 cargo test -p dolmen-cli --test book --locked pages_say

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
