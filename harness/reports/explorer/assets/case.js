// One data set: its node, its tensors, and the result of each run.

function Case({ view, at, payload }) {
  const { suite, runs, rows } = view;
  const [name, text] = at.parts;
  const row = useMemo(() => {
    const one = suite.names.indexOf(name);
    return suite.cases.findIndex((n, i) => n === one && suite.data_sets[i] === Number(text ?? 0));
  }, [suite, name, text]);
  const title = row < 0 ? "" : suite.operators[suite.case_operators[suite.cases[row]]].title;
  const part = suite.details.includes(title) ? `${payload.suites.indexOf(suite)}/${title}` : "";
  const details = usePart(part);
  if (row < 0) return html`<p>The suite ${suite.name} has no result for ${name}, data set ${text}.</p>`;
  const one = suite.cases[row];
  const detail = details?.[`${name}/${suite.data_sets[row]}`];
  const place = rows.indexOf(row);
  const next = (step) => {
    const other = place < 0 ? undefined : rows[place + step];
    return other === undefined ? null : address(at, { page: "case", parts: [suite.names[suite.cases[other]], String(suite.data_sets[other])] });
  };
  const labels = { ...suite.types[suite.case_types[one]], ...suite.attributes[suite.case_attributes[one]] };
  return html`
    <p class="quiet"><a href=${address(at, { page: "op", parts: [title] })}>${title}</a> · data set ${suite.data_sets[row]}, ${suite.texts[suite.groups[row]] || "no group"}
      ${next(-1) && html` · <a href=${next(-1)} accesskey="p" rel="prev">previous</a>`} ${next(1) && html` · <a href=${next(1)} accesskey="n" rel="next">next</a>`} ${place >= 0 && html` · ${formatCount(place + 1)} of ${formatCount(rows.length)} selected`}</p>
    <section><h2>Verdicts</h2>${runs.map(({ run, n }) => html`<${RunResult} key=${n} ...${{ suite, run, row, name }} />`)}</section>
    <section><h2>Node</h2>
      ${detail ? html`<pre tabindex="0">${detail.nodes.join("\n")}</pre>` : html`<p>${labelText(suite, one)}</p>`}
      <dl class="labels">${Object.entries(labels).map(([key, value]) => html`<div key=${key}><dt>${key}</dt><dd>${value === "omitted" ? "–" : value}</dd></div>`)}
        ${suite.omitted[suite.case_omitted[one]].length > 0 && html`<div><dt>omitted</dt><dd>${suite.omitted[suite.case_omitted[one]].join(", ")}</dd></div>`}</dl>
      ${detail?.about && html`<p>${detail.about}</p>`}
      ${detail?.clause && html`<p class="quiet">Specification: ${detail.clause}</p>`}
      ${detail?.unspecified && html`<p class="quiet">Not scored: ${detail.unspecified}</p>`}
      ${detail?.problem && html`<p>! ${detail.problem}</p>`}</section>
    ${detail ? html`<${Tensors} ...${{ detail, runs, row }} />` : html`<section aria-busy=${part !== "" && !details}><h2>Inputs and outputs</h2><p>${part && !details ? "Loading …" : "Tensors are included only for failing data sets. To print them, run:"}</p><${Command} text=${["onnx-conformance", "show", name, ...(suite.name === "matrix" ? [] : ["--suite", suite.name])].map(quoted).join(" ")} /></section>`}`;
}

function RunResult({ suite, run, row, name }) {
  const code = run.codes[row];
  const facts = [
    !Number.isNaN(run.errors[row]) && `${formatMeasure(run.errors[row])} bounds, ${MAX_ERROR} allowed`,
    !Number.isNaN(run.ulps[row]) && `${formatMeasure(run.ulps[row])} ulps`,
    run.onnx_tolerance[row] !== " " && `${run.onnx_tolerance[row] === "1" ? "passes" : "fails"} with ONNX's own tolerance`,
  ].filter(Boolean);
  return html`<article class="answer"><h3>${run.label}: <${Verdict} code=${code} /></h3>
    ${facts.length > 0 && html`<p class="quiet">${facts.join(" · ")}</p>`}
    ${run.messages[row] > 0 && html`<pre class="message" tabindex="0">${suite.texts[run.messages[row]]}</pre>`}
    ${run.known[row] > 0 && suite.texts[run.known[row]] !== suite.texts[run.messages[row]] && html`<p class="quiet">Known: ${suite.texts[run.known[row]]}</p>`}
    ${code !== NO_RESULT && html`<${Command} text=${reproduce(suite.name, name, run.backend, suite.data_sets[row])} />`}</article>`;
}

function Tensors({ detail, runs, row }) {
  return html`
    <section><h2>Inputs</h2>${detail.inputs.length ? detail.inputs.map((one) => html`<h3>${one.name}: <code>${one.type}[${one.shape.join(",")}]</code></h3><pre tabindex="0">${nested(one)}</pre>`) : html`<p class="quiet">None.</p>`}</section>
    <section><h2>Expected and actual outputs</h2>${detail.outputs.map((one, i) => html`<${OutputTable} key=${i} ...${{ one, runs, detail, row }} />`)}</section>`;
}

/** The elements in nested brackets. */
function nested({ shape, values, size }) {
  if (values.length < size) return `${values.join(", ")}, … ${formatCount(size - values.length)} more`;
  const walk = (depth, from) => {
    if (depth === shape.length) return values[from];
    const step = shape.slice(depth + 1).reduce((a, b) => a * b, 1);
    const items = Array.from({ length: shape[depth] }, (_, i) => walk(depth + 1, from + i * step));
    return `[${items.join(depth === shape.length - 1 ? ", " : `,\n${" ".repeat(depth + 1)}`)}]`;
  };
  return size ? walk(0, 0) : `empty, shape [${shape.join(",")}]`;
}

const indexText = (shape, flat) => {
  const index = [];
  for (let depth = shape.length - 1; depth >= 0; depth--) {
    index.unshift(flat % shape[depth]);
    flat = Math.floor(flat / shape[depth]);
  }
  return `[${index.join(",")}]`;
};

function OutputTable({ one, runs, detail, row }) {
  const [only, setOnly] = useState(false);
  const actual = one.actual ?? {};
  const saved = detail.saved ?? [];
  const compared = runs.filter(({ n }) => actual[n] && !actual[n].mismatch);
  const mismatched = runs.filter(({ n }) => actual[n]?.mismatch);
  const unsaved = runs.filter(({ run, n }) => !saved.includes(n) && [1, 2, 3, 4].includes(run.codes[row]));
  const lines = one.at.map((_, i) => i).filter((i) => !only || compared.some(({ n }) => actual[n].wrong?.[i] === "1"));
  return html`<h3>${one.name}: <code>${one.type}[${one.shape.join(",")}]</code> <span class="quiet">${one.at.length < one.size ? `${formatCount(one.at.length)} of ${formatCount(one.size)} elements shown; wrong elements are preferred` : `${formatCount(one.size)} element${one.size === 1 ? "" : "s"}`}</span></h3>
    ${mismatched.map(({ run, n }) => html`<p>${run.label} returned <b>${actual[n].mismatch}</b>: <code>${(actual[n].values ?? []).join(", ")}</code></p>`)}
    ${unsaved.map(({ run }) => html`<p class="quiet">The output of ${run.label} was not saved.</p>`)}
    ${compared.length > 0 && html`<label><input type="checkbox" checked=${only} onChange=${() => setOnly(!only)} /> only wrong elements</label>`}
    ${lines.length > 0 && html`<${Scroll} label=${`Elements of ${one.name}`} tall="50vh"><table class="compared"><thead><tr><th scope="col">element</th><th scope="col">expected</th>${one.bounds && html`<th scope="col">bound</th>`}
      ${compared.map(({ run, n }) => html`<th scope="col">${run.label} <span class="quiet">${formatCount(actual[n].differing ?? 0)} wrong</span></th>${actual[n].errors && html`<th scope="col">in bounds</th>`}`)}</tr></thead>
      <tbody>${lines.map((i) => html`<tr><th scope="row">${indexText(one.shape, one.at[i])}</th><td>${one.expected[i]}</td>${one.bounds && html`<td class="quiet">${one.bounds[i]}</td>`}
        ${compared.map(({ n }) => {
          const wrong = actual[n].wrong?.[i] === "1";
          return html`<td class=${wrong ? "wrong" : ""}>${wrong && html`<span class="sign" aria-label="wrong">≠ </span>`}${actual[n].values[i]}</td>${actual[n].errors && html`<td class=${wrong ? "wrong" : ""}>${actual[n].errors[i]}</td>`}`;
        })}</tr>`)}</tbody></table></${Scroll}>`}`;
}
