// Data of the page: results as typed columns, the address, the selected rows, and tallies.

const { h, render, Fragment, useState, useEffect, useLayoutEffect, useMemo, useRef, useReducer } = vendor;
const html = vendor.htm.bind(h);

const VERDICTS = ["passed", "wrong_value", "wrong_shape", "wrong_type", "wrong_count", "unsupported", "error", "crashed", "timed_out", "not_run", "unspecified", "insensitive"];
const SIGNS = ["✓", "≠", "□", "T", "#", "–", "!", "‡", "…", "○", "~", "≈"];
/** Verdict codes, most severe first. A cell shows the sign of the most severe verdict in it. */
const MOST_SEVERE_FIRST = [7, 8, 1, 2, 3, 4, 6, 9, 5, 0, 10, 11];
const [PASSED, UNSUPPORTED, NOT_RUN, UNSPECIFIED] = [0, 5, 9, 10];
const NO_RESULT = 255;
/** Unspecified and insensitive data sets are not scored. */
const isScored = (code) => code < UNSPECIFIED;
const MAX_ERROR = 4;

const number = new Intl.NumberFormat("en-US");
const formatCount = (n) => number.format(n);
const verdictText = (verdict) => verdict.replaceAll("_", " ");
const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);

/** A rate, never rounded up to 100 % or down to 0 %, as in harness/reports/text.py. */
function percent(part, whole) {
  if (!whole) return "";
  const tenths = Math.floor((part * 1000) / whole);
  return part && !tenths ? "<0.1 %" : `${(tenths / 10).toFixed(1)} %`;
}

/** An error in bounds or ulps, as in harness/reports/text.py. */
function formatMeasure(value) {
  if (Number.isNaN(value)) return "";
  if (value === Infinity) return "inf";
  if (value > 1e6) return ">1e6";
  if (value >= 100) return formatCount(Math.round(value));
  if (value > 0 && value < 0.01) return "<0.01";
  return String(Number(value.toFixed(2)));
}

async function readPart(id) {
  const text = document.getElementById(id).textContent.trim();
  const bytes = Uint8Array.fromBase64 ? Uint8Array.fromBase64(text) : Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

/** The value of a compressed part of the file. Undefined while it is decompressed, or if the id is empty. */
function usePart(id) {
  const [part, setPart] = useState({ id: "", value: undefined });
  useEffect(() => {
    let wanted = true;
    if (id) readPart(id).then((value) => wanted && setPart({ id, value }));
    return () => (wanted = false);
  }, [id]);
  return part.id === id ? part.value : undefined;
}

/** Converts the columns of the payload to typed arrays and adds derived values. */
function preparePayload(payload) {
  const letters = new Map(Object.entries(payload.letters));
  const codes = new Uint8Array(128).fill(NO_RESULT);
  for (const [letter, verdict] of letters) codes[letter.charCodeAt(0)] = VERDICTS.indexOf(verdict);
  const real = (values) => Float32Array.from(values, (value) => (value === null ? NaN : value < 0 ? Infinity : value));
  for (const suite of payload.suites) {
    suite.texts = payload.texts;
    suite.letters = letters;
    for (const key of ["case_operators", "case_types", "case_attributes", "case_omitted", "case_categories", "cases", "data_sets", "groups"])
      suite[key] = Uint32Array.from(suite[key]);
    suite.operator_categories = [...new Set(suite.operators.map((one) => one.category))].sort();
    suite.element_types = elementTypes(suite, payload.element_types);
    suite.lower = null;
    for (const run of suite.runs) {
      const text = run.verdicts;
      run.codes = new Uint8Array(text.length);
      for (let i = 0; i < text.length; i++) run.codes[i] = codes[text.charCodeAt(i)];
      run.errors = real(run.errors);
      run.ulps = real(run.ulps);
    }
  }
  return payload;
}

/** The names of the element types that occur, in order, and for each combination of types their indices. */
function elementTypes(suite, order) {
  const present = new Set(suite.types.flatMap((types) => Object.values(types)));
  const names = [...order.filter((name) => present.has(name)), ...[...present].filter((name) => !order.includes(name)).sort()];
  const of = suite.types.map((types) => [...new Set(Object.values(types))].map((name) => names.indexOf(name)));
  return { names, of };
}

// The address is #/page?suite=…&select=…, so that every view has a link.

function readAddress() {
  const [path, query] = location.hash.replace(/^#\/?/u, "").split(/\?(.*)/su);
  const params = new URLSearchParams(query ?? "");
  const parts = path.split("/").map((part) => {
    try {
      return decodeURIComponent(part);
    } catch {
      return part;
    }
  });
  return {
    page: ["overview", "map", "op", "cases", "case"].includes(parts[0]) ? parts[0] : "overview",
    parts: parts.slice(1),
    suite: params.get("suite") ?? "",
    select: params.get("select") ?? "",
    search: params.get("search") ?? "",
    element: params.get("element") ?? "",
    of: params.get("of") ?? "",
    differ: params.get("differ") === "1",
    sort: params.get("sort") ?? "",
    hide: params.getAll("hide"),
  };
}

/** Shows the view of an address immediately. Setting location.hash would show it after the next keys or clicks. */
function go(to) {
  if (to !== location.hash) history.pushState(null, "", to);
  dispatchEvent(new HashChangeEvent("hashchange"));
}

/** Like go, but replaces the current entry of the history. */
function replaceAddress(to) {
  history.replaceState(null, "", to);
  dispatchEvent(new HashChangeEvent("hashchange"));
}

/** The address of a view, which is the current one with changes. */
function address(at, changes = {}) {
  const to = { ...at, ...changes };
  const params = new URLSearchParams();
  for (const key of ["suite", "select", "element", "search", "of", "sort"]) if (to[key]) params.set(key, to[key]);
  if (to.differ) params.set("differ", "1");
  for (const label of to.hide) params.append("hide", label);
  const path = [to.page, ...("page" in changes ? (changes.parts ?? []) : to.parts)].map(encodeURIComponent).join("/");
  const query = params.toString();
  return `#/${path}${query ? `?${query}` : ""}`;
}

/** Adds a term to a selection. It replaces terms with the same key. */
function withTerm(select, key, value) {
  let terms = [];
  try {
    terms = parseSelection(select).filter((term) => term.key !== key).map((term) => term.word);
  } catch {
    // an invalid selection is replaced
  }
  return [...terms, ...(value === null ? [] : [termOf(key, value)])].join(" ");
}

/** What an address selects: the suite, the visible runs, the runs that filters apply to, and the rows. */
function viewOf(payload, at) {
  const suite = payload.suites.find((one) => one.name === at.suite) ?? payload.suites[0];
  const all = suite.runs.map((run, n) => ({ run, n }));
  const shown = all.filter(({ run }) => !at.hide.includes(run.label));
  const runs = shown.length ? shown : all;
  const one = runs.filter(({ run }) => run.label === at.of);
  const selectedRuns = one.length ? one : runs;
  let terms = [];
  let problem = "";
  try {
    terms = parseSelection(at.select);
  } catch (error) {
    problem = error.message;
  }
  const rows = selectedRows(suite, terms, selectedRuns, runs, at);
  if (!problem && !rows.length) problem = unknownKey(suite, terms);
  return { suite, runs, selectedRuns, of: one.length ? at.of : "", rows, problem, terms };
}

function selectedRows(suite, terms, selectedRuns, runs, at) {
  const mask = rowsMatching(suite, terms);
  const allowed = allowedLetters(terms, suite.letters);
  const ok = new Uint8Array(256);
  for (const [letter, verdict] of suite.letters) ok[VERDICTS.indexOf(verdict)] = Number(allowed.has(letter));
  const element = suite.element_types.names.indexOf(at.element);
  const has = at.element ? suite.element_types.of.map((types) => types.includes(element)) : null;
  const query = at.search.trim().toLowerCase();
  const codes = selectedRuns.map(({ run }) => run.codes);
  const others = runs.map(({ run }) => run.codes);
  const found = new Uint32Array(mask.length);
  let n = 0;
  for (let row = 0; row < mask.length; row++) {
    if (!mask[row] || !codes.some((of) => ok[of[row]])) continue;
    if (has && !has[suite.case_types[suite.cases[row]]]) continue;
    if (at.differ && !disagreement(others, row)) continue;
    if (query && !mentions(suite, selectedRuns, row, query)) continue;
    found[n++] = row;
  }
  return found.subarray(0, n);
}

/** 2 if verdicts differ between runs, 1 if they differ only by unsupported or not run, 0 if all are the same. */
function disagreement(codes, row) {
  let first = NO_RESULT;
  let answered = NO_RESULT;
  let rank = 0;
  for (const of of codes) {
    const code = of[row];
    if (code === NO_RESULT) continue;
    if (first === NO_RESULT) first = code;
    else if (code !== first) rank = Math.max(rank, 1);
    if (code === UNSUPPORTED || code === NOT_RUN) continue;
    if (answered === NO_RESULT) answered = code;
    else if (code !== answered) rank = 2;
  }
  return rank;
}

function mentions(suite, runs, row, query) {
  const one = suite.cases[row];
  if (suite.names[one].toLowerCase().includes(query)) return true;
  if (suite.operators[suite.case_operators[one]].title.toLowerCase().includes(query)) return true;
  suite.lower ??= suite.texts.map((text) => text.toLowerCase());
  return runs.some(({ run }) => suite.lower[run.messages[row]].includes(query) || suite.lower[run.known[row]].includes(query));
}

function unknownKey(suite, terms) {
  const known = new Set([...FIXED, ...[...suite.types, ...suite.attributes].flatMap((labels) => Object.keys(labels))]);
  const unknown = terms.find((term) => !known.has(term.key.slice(term.key.lastIndexOf(".") + 1)));
  return unknown ? `No data set has the label ${unknown.key}.` : "";
}

// Tallies.

const SIZE = VERDICTS.length;

/** Counts verdicts of a run by key. ``keys(row)`` returns a number or an array of numbers. */
function counts(run, rows, size, keys) {
  const found = new Uint32Array(size * SIZE);
  for (const row of rows) {
    const code = run.codes[row];
    if (code === NO_RESULT) continue;
    const key = keys(row);
    if (typeof key === "number") found[key * SIZE + code]++;
    else for (const one of key) found[one * SIZE + code]++;
  }
  return found;
}

/** The tally of one key. */
const tallyAt = (found, key) => tally(found.subarray(key * SIZE, (key + 1) * SIZE));

function tally(of) {
  const total = sum(of);
  const scored = sum(of.subarray(0, UNSPECIFIED));
  return { of, total, scored, passed: of[PASSED], supported: scored - of[UNSUPPORTED], failed: scored - of[PASSED] };
}

const sumOf = (tallies) => tally(tallies.reduce((all, one) => all.map((n, i) => n + one.of[i]), new Uint32Array(SIZE)));

function labelText(suite, one) {
  const operator = suite.operators[suite.case_operators[one]];
  const pairs = [
    ...Object.entries(suite.types[suite.case_types[one]]),
    ...Object.entries(suite.attributes[suite.case_attributes[one]]).filter(([, value]) => value !== "omitted"),
  ];
  const omitted = suite.omitted[suite.case_omitted[one]];
  return `${operator.title} ${pairs.map(([key, value]) => `${key}=${value}`).join(" ")}${omitted.length ? `, without ${omitted.join(", ")}` : ""}`;
}

function quoted(word) {
  return /^[\w@%+=:,./-]+$/u.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`;
}

/** The command that prints a script to rerun one data set on one backend. */
function reproduce(suite, name, backend, dataSet) {
  const more = [...(dataSet ? ["--data-set", String(dataSet)] : []), ...(suite === "matrix" ? [] : ["--suite", suite])];
  return ["onnx-conformance", "repro", name, "--backend", backend, ...more].map(quoted).join(" ");
}
