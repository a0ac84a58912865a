// The selection language of harness/suite/select.py, applied to columns.

const QUOTED = `'[^']*'|"[^"]*"`;
const INNER = String.raw`\((?:[^()]|\([^()]*\))*\)`;
const ROUND = String.raw`\((?:[^()]|\((?:[^()]|${INNER})*\))*\)`;
const GROUPED = String.raw`${QUOTED}|\[[^\[\]]*\]|${ROUND}`;
const WORDS = new RegExp(`(?:${GROUPED}|\\S)+`, "gu");
const ALTERNATIVES = new RegExp(`(?:^|,)((?:${GROUPED}|[^,])*)`, "gu");
const TERM = /^(?:(?<key>[A-Za-z_][\w.]*)(?<relation>!?=)(?<value>[^]*)|(?<not>!?)(?<name>[^=!]+))$/u;
const FIXED = ["op", "domain", "since", "category", "group", "case", "data_set", "verdict", "omitted"];

/** Parses a selection. Throws an Error that names the first invalid term. */
function parseSelection(text) {
  return (text.match(WORDS) ?? []).map((word) => {
    const found = TERM.exec(word)?.groups;
    if (!found) throw new Error(`${word} is not a valid selection term: use KEY=VALUE, KEY!=VALUE, a glob for case names, or !GLOB.`);
    const key = found.key || "case";
    const dot = key.lastIndexOf(".");
    if (dot >= 0 && !["types", "attributes"].includes(key.slice(0, dot)))
      throw new Error(`${key} is not a valid selection key: a key with a dot must start with types. or attributes.`);
    const patterns = [...(found.key ? found.value : found.name).matchAll(ALTERNATIVES)].map((part) =>
      part[1].replace(/'([^']*)'|"([^"]*)"/gu, (_, one, two) => one ?? two),
    );
    return { key, patterns, negated: (found.relation || found.not).includes("!"), word };
  });
}

/** A function that tests whether a text matches one of the globs. A text also matches a pattern that equals it. */
function globOf(patterns) {
  const exact = new Set(patterns);
  const globs = patterns.filter((pattern) => /[*?[]/u.test(pattern)).map((pattern) => new RegExp(`^(?:${translated([...pattern])})$`, "u"));
  return (text) => exact.has(text) || globs.some((glob) => glob.test(text));
}

function translated(pattern) {
  let out = "";
  for (let i = 0; i < pattern.length; i++) {
    const character = pattern[i];
    let end = i + 1;
    if (pattern[end] === "!") end++;
    if (pattern[end] === "]") end++;
    end = pattern.indexOf("]", end);
    if (character === "*") out += "[^]*";
    else if (character === "?") out += "[^]";
    else if (character === "[" && end >= 0) {
      out += classOf(pattern.slice(i + 1, end));
      i = end;
    } else out += literal(character);
  }
  return out;
}

function classOf(inside) {
  const negated = inside[0] === "!";
  const items = negated ? inside.slice(1) : inside;
  let out = "";
  for (let i = 0; i < items.length; i++) {
    if (items[i + 1] === "-" && i + 2 < items.length) {
      if (items[i].codePointAt(0) <= items[i + 2].codePointAt(0)) out += `${literal(items[i])}-${literal(items[i + 2])}`;
      i += 2;
    } else out += literal(items[i]);
  }
  if (!out) return negated ? "[^]" : "(?!)";
  return `[${negated ? "^" : ""}${out}]`;
}

const literal = (character) => `\\u{${character.codePointAt(0).toString(16)}}`;

/** A term that selects this value of this key, quoted if necessary. */
function termOf(key, value, negated = false) {
  const plain = /^[^\s,'"()[\]*?]*$/u.test(value);
  // Quoting does not escape glob characters, but a character class with one character does.
  const escaped = value.replace(/[*?[]/gu, "[$&]");
  return `${key}${negated ? "!" : ""}=${plain ? value : `'${escaped.replaceAll("'", `'"'"'`)}'`}`;
}

/** The verdict letters that the verdict terms allow. */
function allowedLetters(terms, letters) {
  const tests = terms.filter((term) => term.key === "verdict").map((term) => [globOf(term.patterns), term.negated]);
  return new Set([...letters].filter(([, verdict]) => tests.every(([test, negated]) => test(verdict) !== negated)).map(([letter]) => letter));
}

/** One byte per row: 1 if it matches all terms except those on verdicts. */
function rowsMatching(suite, terms) {
  const cases = new Uint8Array(suite.names.length).fill(1);
  const rows = new Uint8Array(suite.cases.length).fill(1);
  for (const term of terms) {
    const holds = testOf(term);
    const byCase = (numbers, values) => {
      const held = values.map(holds);
      for (let i = 0; i < cases.length; i++) cases[i] &= held[numbers[i]];
    };
    const operator = (value) => byCase(suite.case_operators, suite.operators.map((one) => [value(one)]));
    if (term.key === "verdict") continue;
    else if (term.key === "op") operator((one) => one.op);
    else if (term.key === "domain") operator((one) => one.domain || "ai.onnx");
    else if (term.key === "since") operator((one) => String(one.since));
    else if (term.key === "category") byCase(suite.case_categories, suite.categories.map((name) => [name]));
    else if (term.key === "omitted") byCase(suite.case_omitted, suite.omitted);
    else if (term.key === "case")
      suite.names.forEach((name, i) => (cases[i] &= holds([name, name.replace(/^test_/u, "")])));
    else if (term.key === "group") {
      const held = new Map();
      suite.groups.forEach((group, i) => {
        if (!held.has(group)) held.set(group, holds([suite.texts[group]]));
        rows[i] &= held.get(group);
      });
    } else if (term.key === "data_set") suite.data_sets.forEach((n, i) => (rows[i] &= holds([String(n)])));
    else labelled(suite, term, holds, cases);
  }
  for (let i = 0; i < rows.length; i++) rows[i] &= cases[suite.cases[i]];
  return rows;
}

function testOf(term) {
  const matches = globOf(term.patterns);
  // "omitted!=k" matches a node that omits nothing, but "axis!=0" does not match a node without the attribute.
  const withoutValue = term.negated && term.key === "omitted";
  return (values) => (values.some(matches) ? !term.negated : values.length ? term.negated : withoutValue);
}

function labelled(suite, term, holds, cases) {
  const dot = term.key.lastIndexOf(".");
  const [kind, name] = [term.key.slice(0, Math.max(dot, 0)), term.key.slice(dot + 1)];
  const held = (table, other) =>
    table.map((labels) => (kind !== other && Object.hasOwn(labels, name) ? Number(holds([labels[name]])) : -1));
  const types = held(suite.types, "attributes");
  const attributes = held(suite.attributes, "types");
  for (let i = 0; i < cases.length; i++) {
    const type = types[suite.case_types[i]];
    cases[i] &= Number((type >= 0 ? type : attributes[suite.case_attributes[i]]) === 1);
  }
}
