# make conformance   generate the suites, run the backends, write the reports
# make test          run the tests of the project
PYTHON   ?= python3
JOBS     ?= 2
PROFILE  ?= standard
BACKENDS ?= numpy onnx-reference onnxruntime

PY      := .venv/bin/python
HARNESS := $(PY) -m harness

.PHONY: help setup conformance exhaustive generate schemas scoreboard mutants faults test lint docs refresh-docs other-runners bench screenshots wheel vendor clean
.DEFAULT_GOAL := help

help:
	@echo "make conformance  generate the suites, run the backends, write the reports"
	@echo "                  (BACKENDS='$(BACKENDS)' JOBS=$(JOBS) PROFILE=$(PROFILE);"
	@echo "                  PROFILE=quick runs a part, see onnx-conformance run --help)"
	@echo "make exhaustive   the same for the suite exhaustive: every value of the 8- and 16-bit types"
	@echo "make generate     write testdata/matrix and testdata/official"
	@echo "make scoreboard   write reports/README.md from the results in reports; all runs must be complete"
	@echo "make schemas      write the JSON Schemas in harness/schemas from the code"
	@echo "make test         run the tests of the project"
	@echo "make mutants      plant faults in every oracle and list those that the suite does not notice (SELECT=\"op=Pad\" for one)"
	@echo "make faults       plant faults of runtimes around every oracle and print a table of operator × fault"
	@echo "make lint         run ruff and pyright"
	@echo "make docs         build the documentation into build/site; warnings are errors"
	@echo "make refresh-docs update the command output in the documentation (PAGES=docs/cli.md: only these pages)"
	@echo "make other-runners  check over the whole suite that ONNX's own runner passes what passes here"
	@echo "make bench        measure generation, and a run beside a plain loop and onnx's own runner"
	@echo "make screenshots  write the README's pictures of the explorer from the results in reports; needs Chromium"
	@echo "make vendor       bundle the JavaScript libraries of the explorer; needs npm"
	@echo "make wheel        build the wheel and test it in an empty environment"
	@echo "make setup        create .venv with pinned packages; other targets do it if necessary"
	@echo "make clean        remove .venv, testdata and reports"

setup: .venv/.complete

.venv/.complete: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(PY) -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $@

generate: setup
	$(HARNESS) generate --jobs $(JOBS)

# The reports are written even if the results are not as expected; the exit status says so.
conformance: generate
	@$(HARNESS) run --report --profile $(PROFILE) --workers $(JOBS) $(addprefix --backend ,$(BACKENDS))

# Runs the backends first if there are no results. A run over a part of a suite is an error.
scoreboard: setup
	@find reports -name results.jsonl 2>/dev/null | grep -q . || $(MAKE) conformance
	$(HARNESS) report --format scoreboard --output reports/README.md

schemas: setup
	$(HARNESS) schema --output harness/schemas

exhaustive: setup
	$(HARNESS) generate --suite exhaustive --jobs $(JOBS)
	@$(HARNESS) run --report --suite exhaustive --workers $(JOBS) $(addprefix --backend ,$(BACKENDS))

test: setup
	$(PY) -m pytest -n $(JOBS) --dist worksteal -q

# SELECT="op=Pad since=2" for one operator; without it everything, which takes minutes.
mutants: generate
	$(PY) tests/planted/mutants.py --jobs $(JOBS) --select $(SELECT)

faults: generate
	$(PY) tests/planted/faults.py --jobs $(JOBS) --select $(SELECT)

lint: setup
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m pyright

docs: setup
	$(PY) -m sphinx -W --keep-going -q -d build/doctrees docs build/site

refresh-docs: setup
	$(PY) tests/refresh_docs.py $(PAGES)

# Does ONNX's own runner pass what passes here? Over the whole suite; the tests try a part of it.
other-runners: generate
	$(PY) -m tests.other_runners

bench: generate
	$(PY) tests/bench.py
	$(PY) tests/bench_explorer.py

# Reads the results in reports, which make conformance writes.
screenshots: setup
	$(PY) tests/screenshots.py

# The wheel is tested in a folder from which the checkout cannot be imported.
wheel: setup
	rm -rf build dist
	$(PY) -m build --wheel --quiet
	$(PYTHON) -m venv build/empty
	build/empty/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt dist/*.whl
	cd build/empty && bin/python -m harness generate --suite matrix --select category=image,logical,sequence \
		&& bin/python -m harness run --backend numpy

clean:
	rm -rf .venv build dist testdata/*/ reports/*/

# Bundles the libraries of the explorer. Run it after a change of their versions; it needs npm.
VENDOR := harness/reports/explorer/vendor
vendor:
	cd $(VENDOR) && npm ci --silent --no-audit --no-fund --install-links
	cd $(VENDOR) && { \
		printf '/* Laid together from %s.\n\n' "$$(npm ls --omit=dev --depth=0 --parseable --long | sed -n 's/^[^:]*node_modules.[^:]*:\([^:]*\).*/\1/p' | paste -sd' ')"; \
		for name in @tanstack/virtual-core htm preact uplot; do printf '%s\n\n' "$$name"; expand "node_modules/$$name/LICENSE"; echo; done; \
		printf '*/\n'; \
		npx esbuild entry.mjs --bundle --minify --format=iife --global-name=vendor --legal-comments=none --target=es2022 | sed 's/\t/\\t/g'; \
		} > ../assets/vendor.js
	cp $(VENDOR)/node_modules/uplot/dist/uPlot.min.css $(VENDOR)/../assets/vendor.css
