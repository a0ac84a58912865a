// Components that several views use.

/** A table of any length. Only visible rows are in the DOM. ``row(i)`` returns the cells of row i. */
function VirtualTable({ label, head, count: rows, row, height = 26, tall = "70vh", name }) {
  const box = useRef(null);
  const [, again] = useReducer((n) => n + 1, 0);
  const [active, setActive] = useState(null);
  const headHeight = useRef(0);
  const options = {
    count: rows,
    scrollPaddingEnd: headHeight.current, // the virtualizer does not know about the header
    getScrollElement: () => box.current,
    estimateSize: () => height,
    overscan: 8,
    observeElementRect: vendor.observeElementRect,
    observeElementOffset: vendor.observeElementOffset,
    scrollToFn: vendor.elementScroll,
    onChange: again,
  };
  const virtualizer = useMemo(() => new vendor.Virtualizer(options), []);
  virtualizer.setOptions(options);
  useLayoutEffect(() => virtualizer._didMount(), []);
  useLayoutEffect(() => virtualizer._willUpdate());
  useLayoutEffect(() => {
    if (active) box.current.querySelector(`[data-row="${active.row}"] a`)?.focus({ preventScroll: true });
  }, [active]);

  function keys(event) {
    const step = { ArrowDown: 1, ArrowUp: -1, j: 1, k: -1, PageDown: 20, PageUp: -20, Home: -rows, End: rows }[event.key];
    if (!step || event.ctrlKey || event.altKey || event.metaKey) return;
    headHeight.current = box.current.querySelector("thead").offsetHeight;
    virtualizer.setOptions({ ...options, scrollPaddingEnd: headHeight.current });
    const from = Number(event.target.closest("[data-row]")?.dataset.row ?? (step > 0 ? -1 : 0));
    const to = Math.min(Math.max(from + step, 0), rows - 1);
    event.preventDefault();
    virtualizer.scrollToIndex(to, { align: "auto" });
    // The browser's own scroll event comes a frame later. Until then the next key would apply to the old row.
    box.current.dispatchEvent(new Event("scroll"));
    setActive({ row: to });
  }

  const items = virtualizer.getVirtualItems();
  const before = items.length ? items[0].start : 0;
  const after = items.length ? virtualizer.getTotalSize() - items.at(-1).end : 0;
  return html`<div class="scroll" ref=${box} style=${{ maxHeight: tall }} tabindex="0" role="region" aria-label=${label} data-name=${name} onKeyDown=${keys}>
    <table aria-rowcount=${rows + 1}>
      <thead><tr aria-rowindex="1">${head}</tr></thead>
      <tbody>
        ${before > 0 && html`<tr aria-hidden="true" key="before" style=${{ height: `${before}px` }}></tr>`}
        ${items.map(({ index }) => html`<tr key=${index} data-row=${index} aria-rowindex=${index + 2} style=${{ height: `${height}px` }}>${row(index)}</tr>`)}
        ${after > 0 && html`<tr aria-hidden="true" key="after" style=${{ height: `${after}px` }}></tr>`}
      </tbody>
    </table>
  </div>`;
}

/** A scrollable box for a table. It is focusable, so that arrow keys scroll it. */
const Scroll = ({ label, tall, children }) =>
  html`<div class="scroll" style=${tall ? { maxHeight: tall } : {}} tabindex="0" role="region" aria-label=${label}>${children}</div>`;

/** The verdicts of a tally as text. */
function tallyText(of) {
  const rest = VERDICTS.map((verdict, n) => [verdict, of.of[n]]).filter(([, n]) => n);
  return rest.map(([verdict, n]) => `${formatCount(n)} ${verdictText(verdict)}`).join(", ") || "no result";
}

/** The background of a cell: each scored verdict gets its share of the width. Unscored verdicts are drawn only if nothing is scored. */
function verdictGradient(of) {
  if (!of.total) return "none";
  const whole = of.scored || of.total;
  let from = 0;
  const stops = [];
  for (const n of [0, 11, 10, 5, 9, 6, 4, 3, 2, 1, 8, 7]) {
    if (!of.of[n] || (!isScored(n) && of.scored)) continue;
    const to = from + (100 * of.of[n]) / whole;
    stops.push(`var(--v${n}) ${from}% ${to}%`);
    from = to;
  }
  return `linear-gradient(90deg, ${stops.join(", ")})`;
}

const sign = (of) => SIGNS[MOST_SEVERE_FIRST.find((n) => of.of[n])] ?? "";

/** A cell with a rate. It links to the data sets that it counts. */
function RateCell({ of, to, about, wide }) {
  if (!of.total) return html`<td class="mix none" aria-label=${`${about}: no result`}></td>`;
  const short = of.scored ? `${formatCount(of.passed)}/${formatCount(of.scored)}` : `${formatCount(of.total)}`;
  return html`<td class="mix" style=${{ backgroundImage: verdictGradient(of) }}>
    <a href=${to} title=${`${about}: ${tallyText(of)}`} aria-label=${`${about}: ${tallyText(of)}`}><span class="sign" aria-hidden="true">${sign(of)}</span> ${short}${wide ? html` <small>${percent(of.passed, of.scored)}</small>` : ""}</a>
  </td>`;
}

/** A verdict: its sign and its name. */
const Verdict = ({ code, children }) =>
  code === NO_RESULT ? html`<span class="verdict none">·</span>` : html`<span class=${`verdict v${code}`}><span class="sign" aria-hidden="true">${SIGNS[code]}</span> ${children ?? verdictText(VERDICTS[code])}</span>`;

/** A header cell that sorts the table. */
function SortHeader({ at, by, children, text, first = "descending" }) {
  const [now, way] = at.sort.split(":");
  const active = now === by;
  const next = active && (way ?? first) === first ? (first === "descending" ? "ascending" : "descending") : first;
  return html`<th scope="col" class=${text ? "text" : ""} aria-sort=${active ? (way ?? first) : "none"}>
    <a href=${address(at, { sort: `${by}:${next}` })} title="sort by this column">${children}<span aria-hidden="true">${active ? ((way ?? first) === "descending" ? " ▾" : " ▴") : ""}</span></a>
  </th>`;
}

/** Sorts items by the column in the address, or else by ``fallback``. */
function sortItems(items, at, by, fallback) {
  const [key, way = "descending"] = at.sort.split(":");
  const value = by[key];
  const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
  if (!value) return fallback ? items.toSorted(fallback) : items;
  return items.toSorted((a, b) => (way === "ascending" ? compare(value(a), value(b)) : compare(value(b), value(a))));
}

/** The groups of failures of each run. Each links to its data sets. */
function Causes({ causes, suite, runs, at, title }) {
  const found = runs.map((shown) => ({ ...shown, own: causes.filter((cause) => cause.run === shown.n) })).filter(({ own }) => own.length);
  if (!found.length) return "";
  return html`<section><h2>${title}</h2>
    <p class="quiet">For all results of this report; the filters above do not apply. Unexpected failures first, then by severity.</p>
    <div class="columns">${found.map(({ run, n, own }) => html`<${CausesOf} key=${n} ...${{ run, own, at, alone: found.length === 1 && runs.length === 1 }} />`)}</div></section>`;
}

function CausesOf({ run, own, at, alone, limit = 10 }) {
  const [all, setAll] = useState(false);
  const shown = all ? own : own.slice(0, limit);
  return html`<div>${!alone && html`<h3>${run.label}</h3>`}
    <ol class="causes">${shown.map((cause) => html`<li key=${`${cause.select} ${cause.text}`}>
      <a href=${address(at, { page: "cases", select: cause.select, of: run.label, search: "", element: "", differ: false })}>${cause.text}</a>
      ${cause.known > 0 && html` <span class="quiet">${cause.known === cause.failures ? "known" : `${formatCount(cause.known)} known`}</span>`}</li>`)}</ol>
    ${own.length > limit && html`<button type="button" onClick=${() => setAll(!all)}>${all ? "show fewer" : `show all ${formatCount(own.length)}`}</button>`}</div>`;
}

function Command({ text }) {
  const [done, setDone] = useState(false);
  async function copy() {
    await navigator.clipboard?.writeText(text);
    setDone(true);
    setTimeout(() => setDone(false), 1500);
  }
  return html`<span class="command"><code>${text}</code> <button type="button" onClick=${copy} aria-live="polite">${done ? "copied" : "copy"}</button></span>`;
}
