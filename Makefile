BENCH_PYTHON := bench/.venv/bin/python

# The race against the peers: `make bench`, `make bench LANES="weights_a csv"`, `make bench SCALE=0.01` (a smoke run).
.PHONY: bench
bench: bench/.venv/installed
	cargo build --release -p dolmen-bench
	$(BENCH_PYTHON) bench $(LANES) $(if $(SCALE),--scale $(SCALE))

bench/.venv/installed: bench/requirements.txt
	python3 -m venv --clear bench/.venv
	$(BENCH_PYTHON) -m pip install --quiet --disable-pip-version-check -r $<
	touch $@
