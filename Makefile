# make conformance   generate the suites, run the backends over them, write the reports
# make test          the project's own tests
PYTHON   ?= python3
JOBS     ?= 2
PROFILE  ?= standard
BACKENDS ?= numpy onnx-reference onnxruntime

PY      := .venv/bin/python
HARNESS := $(PY) -m harness

.PHONY: help setup conformance exhaustive generate schemas scoreboard mutants faults test lint docs refresh-docs bench screenshots wheel vendor clean
.DEFAULT_GOAL := help

help:
	@echo "make conformance  generate the suites, run the backends over them, write the reports"
	@echo "                  (BACKENDS='$(BACKENDS)' JOBS=$(JOBS) PROFILE=$(PROFILE), or quick:"
	@echo "                  of the newest versions, each type, attribute value and group once)"
	@echo "make exhaustive   the same with every value of the 8- and 16-bit types, for operators of one tensor"
	@echo "make generate     write testdata/matrix and testdata/official"
	@echo "make scoreboard   write reports/README.md from the results in reports, which must be of whole runs"
	@echo "make schemas      write the JSON Schemas in harness/schemas anew, from the code"
	@echo "make test         the project's own tests"
	@echo "make mutants      faults planted in every oracle: which of them the suite notices (SELECT=\"op=Pad\" for one)"
	@echo "make faults       faults of runtimes around every oracle: a table of operator × fault"
	@echo "make lint         ruff and pyright"
	@echo "make docs         build the documentation into build/site; warnings are errors"
	@echo "make refresh-docs write into the documentation what its commands print (PAGES='docs/cli.md': these pages)"
	@echo "make bench        what it costs: generation, and running beside a raw loop and onnx's own runner"
	@echo "make screenshots  draw the README's pictures of the explorer from the results in reports; needs Chromium"
	@echo "make vendor       lay together the libraries inside the explorer; needs npm"
	@echo "make wheel        build the wheel and try it in an empty environment"
	@echo "make setup        .venv with everything pinned; the other targets do it themselves"
	@echo "make clean        remove .venv, testdata and reports"

setup: .venv/.complete

.venv/.complete: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(PY) -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $@

generate: setup
	$(HARNESS) generate --jobs $(JOBS)

# The reports are written whether or not the backends did as expected; the exit status says which.
conformance: generate
	@$(HARNESS) run --report --profile $(PROFILE) --workers $(JOBS) $(addprefix --backend ,$(BACKENDS))

# Of what has run; where nothing has, everything does first. A run of part of a suite is refused.
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

bench: generate
	$(PY) tests/bench.py
	$(PY) tests/bench_explorer.py

# From the results that are in reports; make conformance writes them.
screenshots: setup
	$(PY) tests/screenshots.py

# Nothing of the checkout is in sight where the wheel is tried.
wheel: setup
	rm -rf build dist
	$(PY) -m build --wheel --quiet
	$(PYTHON) -m venv build/empty
	build/empty/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt dist/*.whl
	cd build/empty && bin/python -m harness generate --suite matrix --select category=image,logical,sequence \
		&& bin/python -m harness run --backend numpy

clean:
	rm -rf .venv build dist testdata/*/ reports/*/

# The libraries inside the explorer, laid together; for those who change their versions. It needs npm.
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
