// The page: the header with the filters, and the view that the address selects.

const PAGES = { overview: ["Overview", Overview], map: ["Operators × types", HeatMap], op: ["", Operator], cases: ["Data sets", Cases], case: ["", Case] };
const KEYS = [
  ["/", "search"],
  ["s", "select by labels"],
  ["o", "overview"],
  ["m", "operators × types"],
  ["d", "data sets"],
  ["n, p", "next and previous data set"],
  ["↑ ↓ j k, Page Up, Page Down, Home, End", "move through the rows of a table"],
  ["Enter", "open the row"],
  ["Escape", "leave a field"],
  ["?", "show or hide this list"],
];

/** Elements that letters are typed into, so that shortcuts do not apply. */
const FIELDS = 'input:not([type="checkbox"]), select, textarea';

function Page({ payload }) {
  const [at, setAt] = useState(readAddress);
  const [theme, setTheme] = useState("");
  const [help, setHelp] = useState(false);
  const heading = useRef(null);
  const first = useRef(true);
  // Layout effects run before the next key or click. Ordinary effects would run later and move the focus while typing.
  useLayoutEffect(() => {
    const moved = () => setAt(readAddress());
    addEventListener("hashchange", moved);
    addEventListener("click", followLink);
    return () => {
      removeEventListener("hashchange", moved);
      removeEventListener("click", followLink);
    };
  }, []);
  const filter = JSON.stringify([at.suite, at.select, at.element, at.search, at.of, at.differ, at.hide]);
  const view = useMemo(() => viewOf(payload, at), [payload, filter]);
  const name = at.page === "op" || at.page === "case" ? at.parts[0] : PAGES[at.page][0];
  useLayoutEffect(() => {
    document.title = `${name} – ONNX conformance`;
    if (!first.current) {
      // A field that has been focused in the meantime keeps the focus.
      if (!document.activeElement?.closest(FIELDS)) heading.current.focus({ preventScroll: true });
      scrollTo(0, 0);
    }
    first.current = false;
  }, [at.page, at.parts.join("/")]);
  const turn = () => setTheme((document.documentElement.dataset.theme = isDark() ? "light" : "dark"));
  useLayoutEffect(() => {
    const keys = (event) => handleKey(event, at, () => setHelp((shown) => !shown));
    addEventListener("keydown", keys);
    return () => removeEventListener("keydown", keys);
  }, [at]);
  const View = PAGES[at.page][1];
  return html`
    <a class="skip" href="#main" onClick=${(event) => (event.preventDefault(), heading.current.focus())}>Skip to content</a>
    <header><nav aria-label="Views"><b>ONNX conformance</b>
        ${["overview", "map", "cases"].map((page) => html`<a href=${address(at, { page, sort: "" })} aria-current=${at.page === page ? "page" : undefined}>${PAGES[page][0]}</a>`)}
        <button type="button" onClick=${turn}>switch theme</button>
        <button type="button" aria-expanded=${help} onClick=${() => setHelp(!help)}>keyboard shortcuts</button></nav>
      ${help && html`<dl class="keys">${KEYS.map(([key, what]) => html`<div><dt><kbd>${key}</kbd></dt><dd>${what}</dd></div>`)}</dl>`}
      <${Filters} ...${{ payload, view, at }} /></header>
    <main id="main"><h1 tabindex="-1" ref=${heading}>${name}</h1>
      ${payload.selection && html`<p>! This report is limited to <code>${payload.selection}</code>.</p>`}
      <${View} key=${at.page === "case" || at.page === "op" ? `${at.page} ${at.parts.join("/")}` : at.page} ...${{ view, at, payload, theme }} /></main>
    <footer class="quiet">onnx-conformance ${payload.version} · legend: ${VERDICTS.map((verdict, n) => html`<span class="legend"><${Verdict} code=${n} /></span> `)}</footer>`;
}

const isDark = () => document.documentElement.dataset.theme === "dark" || (!document.documentElement.dataset.theme && matchMedia("(prefers-color-scheme: dark)").matches);

function Filters({ payload, view, at }) {
  const { suite, runs } = view;
  const whole = suite.cases.length;
  const change = (changes) => go(address(at, changes));
  const timer = useRef(0);
  const search = (event) => {
    clearTimeout(timer.current);
    replaceAddress(address(readAddress(), { search: event.target.value }));
  };
  const searchSoon = (event) => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => search(event), 150);
  };
  return html`<form role="search" onSubmit=${(event) => event.preventDefault()}>
    <label>Suite <select id="suite" value=${suite.name} onChange=${(event) => change({ suite: event.target.value, sort: "" })}>${payload.suites.map((one) => html`<option value=${one.name}>${one.name}</option>`)}</select></label>
    <label>Search <input id="search" type="search" value=${at.search} placeholder="names and messages" onInput=${searchSoon} onChange=${search} /></label>
    <label class="wide">Select <input id="select" type="search" spellcheck="false" value=${at.select} placeholder="op=Trilu T=float16 upper=0 verdict=wrong_value" aria-describedby="match-count" onChange=${(event) => change({ select: event.target.value.trim() })} /></label>
    <label>Verdict <select id="verdict" value=${verdictOf(at.select)} onChange=${(event) => change({ select: withTerm(at.select, "verdict", event.target.value || null) })}><option value="">any</option>${VERDICTS.map((verdict) => html`<option value=${verdict}>${verdictText(verdict)}</option>`)}</select></label>
    <label>by <select id="of" value=${view.of} onChange=${(event) => change({ of: event.target.value })}><option value="">any backend</option>${runs.map(({ run }) => html`<option value=${run.label}>${run.label}</option>`)}</select></label>
    ${suite.runs.length > 1 && html`<label><input type="checkbox" checked=${at.differ} onChange=${() => change({ differ: !at.differ })} /> only where backends disagree</label>
    <fieldset><legend>Backends</legend>${suite.runs.map((run, n) => html`<label><input type="checkbox" checked=${runs.some((one) => one.n === n)} onChange=${(event) => change({ hide: event.target.checked ? at.hide.filter((label) => label !== run.label) : [...at.hide, run.label] })} /> ${run.label}</label>`)}</fieldset>`}
    <output id="match-count" aria-live="polite">${formatCount(view.rows.length)} of ${formatCount(whole)} data sets${at.element && html` · with element type <b>${at.element}</b> <a href=${address(at, { element: "" })}>clear</a>`}${view.problem && html` · <b class="problem">! ${view.problem}</b>`}
      ${(at.select || at.search || at.of || at.element || at.differ || at.hide.length > 0) && html` · <a href=${address(at, { select: "", search: "", of: "", element: "", differ: false, hide: [] })}>clear all filters</a>`}</output>
    <${LabelFilter} view=${view} at=${at} /></form>`;
}

function verdictOf(select) {
  try {
    const of = parseSelection(select).filter((term) => term.key === "verdict" && !term.negated && term.patterns.length === 1);
    return of.length === 1 && VERDICTS.includes(of[0].patterns[0]) ? of[0].patterns[0] : "";
  } catch {
    return "";
  }
}

function handleKey(event, at, help) {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  if (event.target.closest(FIELDS)) {
    if (event.key !== "Escape") return;
    event.preventDefault(); // Chromium would clear the field
    event.target.blur();
    return;
  }
  const focus = { "/": "search", s: "select" }[event.key];
  const page = { o: "overview", m: "map", d: "cases" }[event.key];
  const link = { n: "next", p: "prev" }[event.key];
  if (focus) document.getElementById(focus).focus();
  else if (page) go(address(at, { page, sort: "" }));
  else if (link) document.querySelector(`a[rel=${link}]`)?.click();
  else if (event.key === "?") help();
  else return;
  event.preventDefault();
}

/** Handles a plain click on a link to a view. Clicks with modifier keys or other buttons are left to the browser. */
function followLink(event) {
  const link = event.target.closest('a[href^="#/"]');
  if (!link || event.button || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  go(link.getAttribute("href"));
}

async function start() {
  const root = document.getElementById("page");
  try {
    const payload = preparePayload(await readPart("payload"));
    root.textContent = "";
    if (payload.suites.length) render(html`<${Page} payload=${payload} />`, root);
    else root.textContent = "This report has no results.";
    requestAnimationFrame(() => (document.documentElement.dataset.ready = String(Math.round(performance.now()))));
  } catch (error) {
    root.textContent = `This report cannot be displayed: ${error.message}. It needs a browser released in 2024 or later.`;
    throw error;
  }
}

start();
