// The views: overview, operators × types, one operator version, and the list of data sets.

const MAX_COLUMNS = 400;

function Overview({ view, at, theme }) {
  const { suite, runs, rows } = view;
  const table = useMemo(() => tables(suite, runs, rows), [suite, runs, rows]);
  return html`
    <${Totals} ...${{ view, at, table }} />
    ${suite.notes.length > 0 && html`<ul class="notes">${suite.notes.map((note) => html`<li>! ${note}</li>`)}</ul>`}
    <p class="quiet">Coverage of the whole suite: ${suite.coverage}. Digest <code>${suite.digest.slice(0, 16)}</code>. ${suite.omitted_data_sets > 0 && `The tensors of ${formatCount(suite.omitted_data_sets)} failing data sets are not included: the suite was not available when this report was written, or the size limit was reached.`}</p>
    <div class="columns">
      <section><h2>By category</h2><${Rates} name="category" runs=${runs} at=${at} rows=${suite.operator_categories.map((name, key) => ({ name, key }))} found=${table.category}
        to=${(row) => ({ page: "cases", select: withTerm(at.select, "category", row.name) })} /></section>
      <section><h2>By element type</h2><p class="quiet">A data set is counted once for each element type of its type variables.</p>
        <${Rates} name="element type" runs=${runs} at=${at} rows=${suite.element_types.names.map((name, key) => ({ name, key }))} found=${table.element}
        to=${(row) => ({ page: "cases", element: row.name })} /></section>
    </div>
    <section><h2>By operator version</h2><${Operators} ...${{ suite, runs, at, found: table.operator }} /></section>
    <${Causes} causes=${suite.causes} ...${{ suite, runs, at }} title="Failures by cause" />
    <section><h2>Accuracy</h2><div class="figures"><${Histogram} runs=${runs} rows=${rows} theme=${theme} /><${Worst} suite=${suite} runs=${runs} rows=${rows} at=${at} theme=${theme} /></div></section>
    <section><h2>Runs</h2><${Scroll} label="Runs"><table><thead><tr><th scope="col">fact</th>${runs.map(({ run }) => html`<th scope="col">${run.label}</th>`)}</tr></thead>
      <tbody>${Object.keys(runs[0].run.facts).map((fact) => html`<tr><th scope="row">${fact}</th>${runs.map(({ run }) => html`<td class="text">${run.facts[fact]}</td>`)}</tr>`)}</tbody></table></${Scroll}></section>`;
}

function tables(suite, runs, rows) {
  const operator = (row) => suite.case_operators[suite.cases[row]];
  const categories = suite.operators.map((one) => suite.operator_categories.indexOf(one.category));
  const every = (size, keys) => runs.map(({ run }) => counts(run, rows, size, keys));
  return {
    all: every(1, () => 0),
    operator: every(suite.operators.length, operator),
    category: every(suite.operator_categories.length, (row) => categories[operator(row)]),
    element: every(suite.element_types.names.length, (row) => suite.element_types.of[suite.case_types[suite.cases[row]]]),
  };
}

function Totals({ view, at, table }) {
  const { runs, rows } = view;
  const tallies = table.all.map((found) => tallyAt(found, 0));
  const occurring = VERDICTS.map((_, n) => n).filter((n) => n && tallies.some((of) => of.of[n]));
  const worst = runs.map(({ run }) => rows.reduce((most, row) => (isScored(run.codes[row]) && run.errors[row] > most ? run.errors[row] : most), -1));
  const known = runs.map(({ run }) => rows.reduce((n, row) => n + Number(run.known[row] > 0 && isScored(run.codes[row]) && run.codes[row] !== PASSED), 0));
  const link = (run, n) => address(at, { page: "cases", select: withTerm(at.select, "verdict", VERDICTS[n]), of: run.label });
  return html`<${Scroll} label="Totals"><table class="totals"><thead><tr><th scope="col">backend</th><th scope="col">passed</th><th scope="col">rate</th><th scope="col">rate of supported</th>
    ${occurring.map((n) => html`<th scope="col"><${Verdict} code=${n} /></th>`)}<th scope="col" title="in bounds; up to 4 passes">worst error</th><th scope="col">known</th></tr></thead>
    <tbody>${runs.map(({ run }, i) => html`<tr><th scope="row">${run.label}</th><td class="mix" style=${{ backgroundImage: verdictGradient(tallies[i]) }}><a href=${link(run, 0)}>${formatCount(tallies[i].passed)}/${formatCount(tallies[i].scored)}</a></td>
      <td>${percent(tallies[i].passed, tallies[i].scored)}</td><td>${percent(tallies[i].passed, tallies[i].supported)}</td>
      ${occurring.map((n) => html`<td>${tallies[i].of[n] ? html`<a href=${link(run, n)}>${formatCount(tallies[i].of[n])}</a>` : "0"}</td>`)}
      <td>${worst[i] < 0 ? "" : formatMeasure(worst[i])}</td><td>${formatCount(known[i])}</td></tr>`)}</tbody></table></${Scroll}>
    <p class="quiet">Rate: passed / scored. Unsupported and not run count as failures. Unspecified and insensitive data sets are not scored.</p>`;
}

function Rates({ name, runs, rows, found, to, at }) {
  const present = rows.filter((row) => found.some((of) => tallyAt(of, row.key).total));
  return html`<${Scroll} label=${`By ${name}`} tall="60vh"><table><thead><tr><th scope="col">${name}</th>${runs.map(({ run }) => html`<th scope="col">${run.label}</th>`)}</tr></thead>
    <tbody>${present.map((row) => html`<tr key=${row.name}><th scope="row" class="name" title=${row.name}>${row.name}</th>${runs.map(({ run }, i) => html`<${RateCell} of=${tallyAt(found[i], row.key)} wide about=${`${row.name}, ${run.label}`} to=${address(at, { ...to(row), of: run.label })} />`)}</tr>`)}</tbody></table></${Scroll}>`;
}

function Operators({ suite, runs, at, found }) {
  const lines = useMemo(() => suite.operators.map((one, n) => ({ one, n, tallies: found.map((of) => tallyAt(of, n)) })).filter((line) => line.tallies.some((of) => of.total)), [suite, found]);
  const by = { operator: (line) => line.one.title.toLowerCase(), category: (line) => line.one.category };
  runs.forEach(({ run }, i) => (by[run.label] = (line) => line.tallies[i].failed));
  const shown = sortItems(lines, at, by, (a, b) => sum(b.tallies.map((of) => of.failed)) - sum(a.tallies.map((of) => of.failed)) || (a.one.title < b.one.title ? -1 : 1));
  const to = (line, of = at.of) => address(at, { page: "op", parts: [line.one.title], of });
  return html`<${VirtualTable} label="Operator versions" name="operators" count=${shown.length} tall="60vh"
    head=${html`<${SortHeader} at=${at} by="operator" first="ascending">operator</${SortHeader}><${SortHeader} text at=${at} by="category" first="ascending">category</${SortHeader}>${runs.map(({ run }) => html`<${SortHeader} at=${at} by=${run.label}>${run.label}</${SortHeader}>`)}`}
    row=${(i) => html`<th scope="row"><a href=${to(shown[i])}>${shown[i].one.title}</a></th><td class="text">${shown[i].one.category}</td>${runs.map(({ run }, r) => html`<${RateCell} of=${shown[i].tallies[r]} wide about=${`${shown[i].one.title}, ${run.label}`} to=${to(shown[i], run.label)} />`)}`} />`;
}

function HeatMap({ view, at }) {
  const { suite, selectedRuns, rows } = view;
  const found = useMemo(() => {
    const width = suite.element_types.names.length;
    const keys = (row) => {
      const one = suite.cases[row];
      return suite.element_types.of[suite.case_types[one]].map((type) => suite.case_operators[one] * width + type);
    };
    const whole = (row) => suite.case_operators[suite.cases[row]];
    return {
      cells: selectedRuns.map(({ run }) => counts(run, rows, suite.operators.length * width, keys)),
      lines: selectedRuns.map(({ run }) => counts(run, rows, suite.operators.length, whole)),
    };
  }, [suite, selectedRuns, rows]);
  const width = suite.element_types.names.length;
  const all = (of, key) => sumOf(of.map((one) => tallyAt(one, key)));
  const columns = suite.element_types.names.map((name, n) => ({ name, n })).filter(({ n }) => suite.operators.some((_, o) => found.cells.some((of) => sum(of.subarray((o * width + n) * SIZE, (o * width + n + 1) * SIZE)))));
  const lines = suite.operators.map((one, n) => ({ one, n, of: all(found.lines, n) })).filter((line) => line.of.total);
  const shown = sortItems(lines, at, { operator: (line) => line.one.title.toLowerCase(), failures: (line) => line.of.failed });
  return html`<p class="quiet">${selectedRuns.length === 1 ? `${selectedRuns[0].run.label}.` : `Sum over ${selectedRuns.length} backends. Select one above.`} A data set is counted in the column of each element type of its type variables.</p>
    <${VirtualTable} label="Operator versions by element type" name="map" count=${shown.length} tall="72vh"
    head=${html`<${SortHeader} at=${at} by="operator" first="ascending">operator</${SortHeader}><${SortHeader} at=${at} by="failures">all</${SortHeader}>${columns.map(({ name }) => html`<th scope="col" class="tilted" title=${name}><span>${name}</span></th>`)}`}
    row=${(i) => html`<th scope="row"><a href=${address(at, { page: "op", parts: [shown[i].one.title] })}>${shown[i].one.title}</a></th>
      <${RateCell} of=${shown[i].of} about=${shown[i].one.title} to=${address(at, { page: "op", parts: [shown[i].one.title] })} />
      ${columns.map(({ name, n }) => html`<${RateCell} key=${name} of=${all(found.cells, shown[i].n * width + n)} about=${`${shown[i].one.title}, ${name}`} to=${address(at, { page: "cases", select: operatorTerms(at.select, shown[i].one), element: name })} />`)}`} />`;
}

function operatorTerms(select, one) {
  return withTerm(withTerm(withTerm(select, "op", one.op), "since", String(one.since)), "domain", one.domain || "ai.onnx");
}

function Operator({ view, at, theme }) {
  const { suite } = view;
  const n = suite.operators.findIndex((one) => one.title === at.parts[0]);
  const { selectedRuns, runs } = view;
  const rows = useMemo(() => view.rows.filter((row) => suite.case_operators[suite.cases[row]] === n), [view.rows, n]);
  if (n < 0) return html`<p>${at.parts[0]} is not in the suite ${suite.name}.</p>`;
  const one = suite.operators[n];
  const found = runs.map(({ run }) => counts(run, rows, 1, () => 0));
  const versions = suite.operators.filter((other) => other.op === one.op && other.domain === one.domain && other !== one && one.op);
  const narrowed = { ...at, page: "cases", parts: [], select: one.op ? operatorTerms(at.select, one) : withTerm(at.select, "op", "") };
  return html`
    <p class="quiet">${one.category}${versions.length > 0 && html` · other versions: ${versions.map((other) => html`<a href=${address(at, { page: "op", parts: [other.title] })}>${other.title}</a> `)}`} · <a href=${address(narrowed)}>${formatCount(rows.length)} data sets</a></p>
    <${Totals} view=${{ ...view, rows }} at=${narrowed} table=${{ all: found }} />
    <${Combinations} ...${{ suite, selectedRuns, rows, at: narrowed }} />
    <${Causes} causes=${one.causes} ...${{ suite, runs, at }} title="Failures by cause" />
    <${Documentation} title=${one.title} />
    <section><h2>Accuracy</h2><div class="figures"><${Histogram} runs=${runs} rows=${rows} theme=${theme} /></div></section>
    <section><h2>Data sets</h2><${DataSets} view=${{ ...view, rows }} at=${{ ...narrowed, sort: "" }} tall="50vh" /></section>`;
}

/** ONNX's documentation of an operator version. Its Markdown is shown as plain text. */
function Documentation({ title }) {
  const documents = usePart("documents");
  if (!documents) return html`<section aria-busy="true"><h2>ONNX documentation</h2><p>Loading …</p></section>`;
  const found = documents[title];
  if (!found) return "";
  const item = (name, notes, about) => html`<li><b>${name}</b>${notes && ` (${notes})`}: ${about}</li>`;
  const listed = (heading, items, first) => items.length > 0 && html`<h3>${heading}</h3>${first && html`<p>${first}</p>`}<ul>${items}</ul>`;
  return html`<section><h2>ONNX documentation</h2><details class="document"><summary>Summary, attributes, inputs, outputs, type constraints of ${title}</summary>
    <div class="prose">${found.summary}</div>
    ${listed("Attributes", found.attributes.map((one) => item(one.name, `${one.kind}, ${one.use}`, one.description)))}
    ${listed("Inputs", found.inputs.map((one) => item(one.name, [one.type, ...one.notes].join(", "), one.description)), found.input_count)}
    ${listed("Outputs", found.outputs.map((one) => item(one.name, [one.type, ...one.notes].join(", "), one.description)), found.output_count)}
    ${listed("Type constraints", found.constraints.map((one) => item(one.name, one.types.join(", "), one.description)))}</details></section>`;
}

/** One operator version: combinations of element types × combinations of attributes. */
function Combinations({ suite, selectedRuns, rows, at }) {
  const distinct = (of) => [...new Set(Array.from(rows, (row) => of[suite.cases[row]]))];
  const natural = new Intl.Collator("en", { numeric: true }).compare;
  const types = distinct(suite.case_types).sort((a, b) => natural(pairsText(suite.types[a]), pairsText(suite.types[b])));
  const attributes = distinct(suite.case_attributes).sort((a, b) => natural(pairsText(suite.attributes[a]), pairsText(suite.attributes[b])));
  if (!rows.length) return "";
  const typeAt = new Map(types.map((key, i) => [key, i]));
  const attributeAt = new Map(attributes.map((key, i) => [key, i]));
  const key = (row) => typeAt.get(suite.case_types[suite.cases[row]]) * attributes.length + attributeAt.get(suite.case_attributes[suite.cases[row]]);
  const found = selectedRuns.map(({ run }) => counts(run, rows, types.length * attributes.length, key));
  const columns = attributes.slice(0, MAX_COLUMNS);
  const select = (labels, kind, words) => Object.entries(labels).reduce((text, [name, value]) => withTerm(text, `${kind}.${name}`, value), words);
  const varying = new Set(attributes.flatMap((n) => Object.keys(suite.attributes[n])).filter((name) => new Set(attributes.map((n) => suite.attributes[n][name])).size > 1));
  const caption = (n) => Object.entries(suite.attributes[n]).filter(([name]) => varying.has(name)).map(([name, value]) => `${name}=${value === "omitted" ? "–" : value}`);
  return html`<section><h2>Element types × attributes</h2>
    <p class="quiet">${selectedRuns.length === 1 ? `${selectedRuns[0].run.label}.` : `Sum over ${selectedRuns.length} backends. Select one above.`} ${formatCount(types.length)} combinations of element types × ${formatCount(attributes.length)} of attributes${attributes.length > columns.length ? ` (first ${formatCount(columns.length)} shown)` : ""}. – means that the attribute is omitted. An empty cell has no data set.</p>
    <${VirtualTable} label="Element types by attributes" name="combinations" count=${types.length} tall="60vh"
      head=${html`<th scope="col">types</th>${columns.map((n) => html`<th scope="col" class="attributes">${caption(n).map((text) => html`<span>${text}</span>`)}</th>`)}`}
      row=${(i) => html`<th scope="row">${pairsText(suite.types[types[i]]) || "–"}</th>${columns.map((n, j) => html`<${RateCell} key=${n} of=${sumOf(found.map((of) => tallyAt(of, i * attributes.length + j)))} about=${`${pairsText(suite.types[types[i]])} ${caption(n).join(" ")}`}
        to=${address(at, { select: select(suite.attributes[n], "attributes", select(suite.types[types[i]], "types", at.select)) })} />`)}`} /></section>`;
}

const pairsText = (labels) => Object.entries(labels).map(([name, value]) => `${name}=${value}`).join(" ");

function sortRows(view, at) {
  const { suite, runs, rows } = view;
  const [key, way = "descending"] = at.sort.split(":");
  const turned = way === "ascending" ? -1 : 1;
  const run = runs.find((one) => one.run.label === key)?.run;
  if (run) return Array.from(rows).sort((a, b) => turned * ((Number.isNaN(run.errors[b]) ? -1 : run.errors[b]) - (Number.isNaN(run.errors[a]) ? -1 : run.errors[a])) || a - b);
  if (key === "case") return way === "ascending" ? Array.from(rows) : Array.from(rows).reverse();
  const codes = runs.map((one) => one.run.codes);
  const ranks = new Map(Array.from(rows, (row) => [row, disagreement(codes, row)]));
  return Array.from(rows).sort((a, b) => ranks.get(b) - ranks.get(a) || a - b);
}

function DataSets({ view, at, tall = "74vh" }) {
  const { suite, runs } = view;
  const shown = useMemo(() => sortRows(view, at), [view.rows, view.runs, at.sort]);
  const to = (row) => address(at, { page: "case", parts: [suite.names[suite.cases[row]], String(suite.data_sets[row])] });
  return html`<${VirtualTable} label="Data sets" name="cases" count=${shown.length} tall=${tall}
    head=${html`<${SortHeader} at=${at} by="case" first="ascending">case</${SortHeader}><th scope="col">data set</th>${runs.map(({ run }) => html`<${SortHeader} text at=${at} by=${run.label}>${run.label}</${SortHeader}>`)}<th scope="col" class="text">group</th><th scope="col" class="text">node</th>`}
    row=${(i) => {
      const row = shown[i];
      const one = suite.cases[row];
      return html`<th scope="row" class="name" title=${suite.names[one]}><a href=${to(row)}>${suite.names[one]}</a></th><td>${suite.data_sets[row]}</td>
        ${runs.map(({ run }) => html`<td class="text" title=${suite.texts[run.messages[row]]}><${Verdict} code=${run.codes[row]}>${run.codes[row] === PASSED ? "" : undefined}</${Verdict}> ${formatMeasure(run.errors[row])}</td>`)}
        <td class="text">${suite.texts[suite.groups[row]]}</td><td class="text long" title=${labelText(suite, one)}>${labelText(suite, one)}</td>`;
    }} />`;
}

function Cases({ view, at }) {
  return html`<p class="quiet">The number after a verdict is the error in bounds; up to 4 passes. ${view.runs.length > 1 && !at.sort && "Data sets on which backends disagree are listed first."}</p><${DataSets} view=${view} at=${at} />`;
}

/** The values of one label in the selected rows, with counts. Each adds a filter. */
function LabelFilter({ view, at }) {
  const { suite, rows, selectedRuns } = view;
  const [key, setKey] = useState("category");
  const keys = useMemo(() => {
    const found = new Set();
    for (const row of rows) {
      for (const name of Object.keys(suite.types[suite.case_types[suite.cases[row]]])) found.add(`types.${name}`);
      if (found.size > 60) break;
    }
    const attributes = new Set(Array.from(rows, (row) => suite.case_attributes[suite.cases[row]]));
    for (const n of attributes) for (const name of Object.keys(suite.attributes[n])) found.add(`attributes.${name}`);
    return ["category", "op", "since", "group", "omitted", "verdict", ...[...found].sort()];
  }, [view]);
  const values = useMemo(() => {
    const found = new Map();
    const add = (value) => found.set(value, (found.get(value) ?? 0) + 1);
    for (const row of rows) {
      const one = suite.cases[row];
      const operator = suite.operators[suite.case_operators[one]];
      if (key === "category") add(suite.categories[suite.case_categories[one]]);
      else if (key === "op") add(operator.op);
      else if (key === "since") add(String(operator.since));
      else if (key === "group") add(suite.texts[suite.groups[row]]);
      else if (key === "omitted") suite.omitted[suite.case_omitted[one]].forEach(add);
      else if (key === "verdict") new Set(selectedRuns.map(({ run }) => run.codes[row]).filter((code) => code !== NO_RESULT)).forEach((code) => add(VERDICTS[code]));
      else {
        const labels = key.startsWith("types.") ? suite.types[suite.case_types[one]] : suite.attributes[suite.case_attributes[one]];
        const value = labels[key.slice(key.indexOf(".") + 1)];
        if (value !== undefined) add(value);
      }
    }
    return [...found].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, 300);
  }, [view, key]);
  return html`<details class="facets"><summary>Filter by label</summary>
    <label>Label <select value=${keys.includes(key) ? key : "category"} onChange=${(event) => setKey(event.target.value)}>${keys.map((name) => html`<option value=${name}>${name}</option>`)}</select></label>
    <ul>${values.map(([value, n]) => html`<li key=${value}><a href=${address(at, { select: withTerm(at.select, key, value) })}>${value || "(none)"}</a> <span class="quiet">${formatCount(n)}</span></li>`)}</ul></details>`;
}
