// What the page knows: the results as typed columns, the address, and counts of whatever is selected.

const { h, render, Fragment, useState, useEffect, useLayoutEffect, useMemo, useRef, useReducer } = vendor;
const html = vendor.htm.bind(h);

const VERDICTS = ["passed", "wrong_value", "wrong_shape", "wrong_type", "wrong_count", "unsupported", "error", "crashed", "timed_out", "not_run", "unspecified", "insensitive"];
const SIGNS = ["✓", "≠", "□", "T", "#", "–", "!", "‡", "…", "○", "~"];
/** The gravest first: what stands for a mixed cell. */
const GRAVEST = [7, 8, 1, 2, 3, 4, 6, 9, 5, 0, 10];
const [PASSED, UNSUPPORTED, NOT_RUN, SILENT] = [0, 5, 9, 10];
const NONE = 255;
const ALLOWED = 4;

const number = new Intl.NumberFormat("en-US");
const count = (n) => number.format(n);
const words = (verdict) => verdict.replaceAll("_", " ");
const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);

/** As a report writes a rate: never rounded up to 100 % nor down to 0 %. */
function percent(part, whole) {
  if (!whole) return "";
  const tenths = Math.floor((part * 1000) / whole);
  return part && !tenths ? "<0.1 %" : `${(tenths / 10).toFixed(1)} %`;
}

/** An error as a report writes it. */
function measure(value) {
  if (Number.isNaN(value)) return "";
  if (value === Infinity) return "inf";
  if (value > 1e6) return ">1e6";
  if (value >= 100) return count(Math.round(value));
  if (value > 0 && value < 0.01) return "<0.01";
  return String(Number(value.toFixed(2)));
}

async function unpacked(id) {
  const text = document.getElementById(id).textContent.trim();
  const bytes = Uint8Array.fromBase64 ? Uint8Array.fromBase64(text) : Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

/** A part of the file once it is unpacked; undefined until then. An empty id means none. */
function usePart(id) {
  const [part, setPart] = useState({ id: "", value: undefined });
  useEffect(() => {
    let wanted = true;
    if (id) unpacked(id).then((value) => wanted && setPart({ id, value }));
    return () => (wanted = false);
  }, [id]);
  return part.id === id ? part.value : undefined;
}

/** The payload with its columns as typed arrays, and what is counted once. */
function prepared(payload) {
  const letters = new Map(Object.entries(payload.letters));
  const codes = new Uint8Array(128).fill(NONE);
  for (const [letter, verdict] of letters) codes[letter.charCodeAt(0)] = VERDICTS.indexOf(verdict);
  const real = (values) => Float32Array.from(values, (value) => (value === null ? NaN : value < 0 ? Infinity : value));
  for (const suite of payload.suites) {
    suite.texts = payload.texts;
    suite.letters = letters;
    for (const key of ["case_operators", "case_types", "case_attributes", "case_omitted", "case_categories", "cases", "data_sets", "groups"])
      suite[key] = Uint32Array.from(suite[key]);
    suite.rooms = [...new Set(suite.operators.map((one) => one.category))].sort();
    suite.elements = elementTypes(suite, payload.element_types);
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

/** The element types that occur, in order, and for each combination of types which of them it has. */
function elementTypes(suite, order) {
  const present = new Set(suite.types.flatMap((types) => Object.values(types)));
  const names = [...order.filter((name) => present.has(name)), ...[...present].filter((name) => !order.includes(name)).sort()];
  const of = suite.types.map((types) => [...new Set(Object.values(types))].map((name) => names.indexOf(name)));
  return { names, of };
}

// The address: #/page?suite=…&select=…, so that a view is a link.

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

/** Shows the view of an address before the next key or click, which a change of location.hash does not. */
function go(to) {
  if (to !== location.hash) history.pushState(null, "", to);
  dispatchEvent(new HashChangeEvent("hashchange"));
}

/** The same without a new entry in the history. */
function replaceAddress(to) {
  history.replaceState(null, "", to);
  dispatchEvent(new HashChangeEvent("hashchange"));
}

/** The address of a view: what is there now, with changes. */
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

/** With one more term, in place of any on the same key. */
function withTerm(select, key, value) {
  let terms = [];
  try {
    terms = parseSelection(select).filter((term) => term.key !== key).map((term) => term.word);
  } catch {
    // what cannot be read is replaced
  }
  return [...terms, ...(value === null ? [] : [termOf(key, value)])].join(" ");
}

/** What an address selects: the suite, the runs shown, and the rows. */
function viewed(payload, at) {
  const suite = payload.suites.find((one) => one.name === at.suite) ?? payload.suites[0];
  const all = suite.runs.map((run, n) => ({ run, n }));
  const shown = all.filter(({ run }) => !at.hide.includes(run.label));
  const runs = shown.length ? shown : all;
  const one = runs.filter(({ run }) => run.label === at.of);
  const asked = one.length ? one : runs;
  let terms = [];
  let problem = "";
  try {
    terms = parseSelection(at.select);
  } catch (error) {
    problem = error.message;
  }
  const rows = selected(suite, terms, asked, runs, at);
  if (!problem && !rows.length) problem = unknownKey(suite, terms);
  return { suite, runs, asked, of: one.length ? at.of : "", rows, problem, terms };
}

function selected(suite, terms, asked, runs, at) {
  const mask = rowsMatching(suite, terms);
  const allowed = allowedLetters(terms, suite.letters);
  const ok = new Uint8Array(256);
  for (const [letter, verdict] of suite.letters) ok[VERDICTS.indexOf(verdict)] = Number(allowed.has(letter));
  const element = suite.elements.names.indexOf(at.element);
  const has = at.element ? suite.elements.of.map((types) => types.includes(element)) : null;
  const sought = at.search.trim().toLowerCase();
  const codes = asked.map(({ run }) => run.codes);
  const others = runs.map(({ run }) => run.codes);
  const found = new Uint32Array(mask.length);
  let n = 0;
  for (let row = 0; row < mask.length; row++) {
    if (!mask[row] || !codes.some((of) => ok[of[row]])) continue;
    if (has && !has[suite.case_types[suite.cases[row]]]) continue;
    if (at.differ && !disagreement(others, row)) continue;
    if (sought && !speaksOf(suite, asked, row, sought)) continue;
    found[n++] = row;
  }
  return found.subarray(0, n);
}

/** 2 where runs that answered disagree, 1 where some only declined or did not run, 0 where all say the same. */
function disagreement(codes, row) {
  let first = NONE;
  let answered = NONE;
  let rank = 0;
  for (const of of codes) {
    const code = of[row];
    if (code === NONE) continue;
    if (first === NONE) first = code;
    else if (code !== first) rank = Math.max(rank, 1);
    if (code === UNSUPPORTED || code === NOT_RUN) continue;
    if (answered === NONE) answered = code;
    else if (code !== answered) rank = 2;
  }
  return rank;
}

function speaksOf(suite, runs, row, sought) {
  const one = suite.cases[row];
  if (suite.names[one].toLowerCase().includes(sought)) return true;
  if (suite.operators[suite.case_operators[one]].title.toLowerCase().includes(sought)) return true;
  suite.lower ??= suite.texts.map((text) => text.toLowerCase());
  return runs.some(({ run }) => suite.lower[run.messages[row]].includes(sought) || suite.lower[run.known[row]].includes(sought));
}

function unknownKey(suite, terms) {
  const known = new Set([...FIXED, ...[...suite.types, ...suite.attributes].flatMap((labels) => Object.keys(labels))]);
  const strange = terms.find((term) => !known.has(term.key.slice(term.key.lastIndexOf(".") + 1)));
  return strange ? `No data set has a label ${strange.key}.` : "";
}

// Counting.

const SIZE = VERDICTS.length;

/** Verdict counts of a run over rows by some key: ``keys(row)`` gives a number or several. */
function counts(run, rows, size, keys) {
  const found = new Uint32Array(size * SIZE);
  for (const row of rows) {
    const code = run.codes[row];
    if (code === NONE) continue;
    const key = keys(row);
    if (typeof key === "number") found[key * SIZE + code]++;
    else for (const one of key) found[one * SIZE + code]++;
  }
  return found;
}

/** One tally out of counts. */
const tallyAt = (found, key) => tally(found.subarray(key * SIZE, (key + 1) * SIZE));

function tally(of) {
  const total = sum(of);
  const scored = total - of[SILENT];
  return { of, total, scored, passed: of[PASSED], supported: scored - of[UNSUPPORTED], lost: scored - of[PASSED] };
}

const together = (tallies) => tally(tallies.reduce((all, one) => all.map((n, i) => n + one.of[i]), new Uint32Array(SIZE)));

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

/** The command that prints a script which runs one data set on one backend again. */
function reproduce(suite, name, backend, dataSet) {
  const more = [...(dataSet ? ["--data-set", String(dataSet)] : []), ...(suite === "matrix" ? [] : ["--suite", suite])];
  return ["onnx-conformance", "repro", name, "--backend", backend, ...more].map(quoted).join(" ");
}
