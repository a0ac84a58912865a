// Charts of errors in bounds, drawn by uPlot.

const MAX_PLOTTED = 1e7;
const POWERS_OF_TEN = Array.from({ length: 10 }, (_, i) => Number(`1e${i - 2}`));

/** Upper edges of the bins: 0, then powers of two, then infinity. */
const EDGES = [0, ...Array.from({ length: 14 }, (_, i) => 2 ** (i - 6)), 1e3, 1e6, Infinity];
const EDGE_NAMES = EDGES.map((edge) => (edge === 0 ? "0" : edge === Infinity ? "inf" : edge >= 1000 ? edge.toExponential(0).replace("+", "") : edge < 1 ? `1/${1 / edge}` : String(edge)));

function binned(run, rows) {
  const bins = new Uint32Array(EDGES.length);
  for (const row of rows) {
    const error = run.errors[row];
    if (Number.isNaN(error) || !isScored(run.codes[row])) continue;
    let bin = 0;
    if (error > 0) for (bin = 1; bin + 1 < EDGES.length && error > EDGES[bin]; bin++);
    bins[bin]++;
  }
  return bins;
}

/** The current value of a CSS colour variable, for use on a canvas. */
function cssColour(name) {
  const probe = document.body.appendChild(Object.assign(document.createElement("i"), { hidden: true }));
  probe.style.color = `var(${name})`;
  const colour = getComputedStyle(probe).color;
  probe.remove();
  return colour;
}

const runColour = (n) => cssColour(`--run${n % 6}`);
const inkColour = () => cssColour("--ink");
const gridColour = () => cssColour("--line");

function Plot({ options, data, label, theme, onPick }) {
  const place = useRef(null);
  useLayoutEffect(() => {
    const width = Math.max(place.current.clientWidth, 320);
    const plot = new vendor.uPlot({ width, height: 240, ...options() }, data, place.current);
    const box = place.current;
    const resize = new ResizeObserver(() => plot.setSize({ width: Math.max(box.clientWidth, 320), height: 240 }));
    resize.observe(box);
    const pick = () => plot.cursor.idx !== null && plot.cursor.idx !== undefined && onPick?.(plot.cursor.idx);
    plot.over.addEventListener("click", pick);
    return () => {
      resize.disconnect();
      plot.destroy();
    };
  }, [data, theme]);
  return html`<div class="plot" role="img" aria-label=${label} ref=${place}></div>`;
}

function Histogram({ runs, rows, theme }) {
  const bins = useMemo(() => runs.map(({ run }) => binned(run, rows)), [runs, rows]);
  const data = useMemo(() => [EDGES.map((_, i) => i), ...bins.map((of) => Array.from(of, (n) => (n ? n : null)))], [bins]);
  const width = 0.8 / runs.length;
  const options = () => ({
    legend: { live: false },
    cursor: { drag: { x: false, y: false } },
    scales: { x: { time: false, range: [-0.6, EDGES.length - 0.4] }, y: { distr: 3, range: (_, __, most) => [0.5, Math.max(most * 2, 10)] } },
    axes: [
      { stroke: inkColour(), grid: { show: false }, splits: () => EDGES.map((_, i) => i), values: () => EDGE_NAMES, label: "error in bounds, at most (up to 4 passes)", labelSize: 20 },
      { stroke: inkColour(), grid: { stroke: gridColour() }, splits: (plot) => POWERS_OF_TEN.filter((n) => n >= 1 && n <= plot.scales.y.max), values: (_, splits) => splits.map((n) => (n === null ? "" : formatCount(n))), size: 64, label: "data sets", labelSize: 20 },
    ],
    series: [
      {},
      ...runs.map(({ run, n }, i) => ({
        label: run.label,
        stroke: runColour(n),
        fill: runColour(n),
        points: { show: false },
        paths: vendor.uPlot.paths.bars({ size: [width, 60, 1], align: 0, gap: 0, disp: { x0: { unit: 1, values: (plot) => plot.data[0].map((x) => x - 0.4 + i * width) }, size: { unit: 1, values: (plot) => plot.data[0].map(() => width * 0.95) } } }),
      })),
    ],
  });
  const rowsOf = EDGE_NAMES.map((name, i) => ({ name, of: bins.map((one) => one[i]) })).filter((one) => sum(one.of));
  if (!rowsOf.length) return "";
  return html`<figure>
    <figcaption>Distribution of errors in bounds over scored data sets</figcaption>
    <${Plot} options=${options} data=${data} theme=${theme} label=${"Histogram of errors in bounds. The table below has the same numbers."} />
    <details><summary>Table</summary><table><thead><tr><th scope="col">at most</th>${runs.map(({ run }) => html`<th scope="col">${run.label}</th>`)}</tr></thead>
      <tbody>${rowsOf.map((one) => html`<tr><th scope="row">${one.name}</th>${one.of.map((n) => html`<td>${formatCount(n)}</td>`)}</tr>`)}</tbody></table></details>
  </figure>`;
}

/** The worst error of each operator version, sorted descending. */
function worstOf(suite, runs, rows) {
  const worst = runs.map(() => new Float32Array(suite.operators.length).fill(-1));
  for (const row of rows)
    runs.forEach(({ run }, i) => {
      const operator = suite.case_operators[suite.cases[row]];
      if (isScored(run.codes[row]) && run.errors[row] > worst[i][operator]) worst[i][operator] = run.errors[row];
    });
  const most = suite.operators.map((_, n) => Math.max(...worst.map((of) => of[n])));
  const order = suite.operators.map((_, n) => n).filter((n) => most[n] >= 0).sort((a, b) => most[b] - most[a] || a - b);
  return { worst, order };
}


function Worst({ suite, runs, rows, at, theme }) {
  const { worst, order } = useMemo(() => worstOf(suite, runs, rows), [suite, runs, rows]);
  const data = useMemo(
    () => [order.map((_, i) => i), ...worst.map((of) => order.map((n) => (of[n] < 0 ? null : Math.min(Math.max(of[n], 0.01), MAX_PLOTTED))))],
    [worst, order],
  );
  if (!order.length) return "";
  const name = (i) => (order[i] === undefined ? "" : suite.operators[order[i]].title);
  const value = (i, n) => (n === null || n === undefined ? "" : formatMeasure(worst[i][order[n]]));
  const options = () => ({
    cursor: { drag: { x: true, y: false } },
    scales: { x: { time: false }, y: { distr: 3, range: [0.008, MAX_PLOTTED * 2] } },
    axes: [
      { stroke: inkColour(), grid: { show: false }, values: (_, splits) => splits.map((i) => (Number.isInteger(i) ? name(i) : "")), rotate: -20, size: 56, space: 110 },
      { stroke: inkColour(), grid: { stroke: gridColour() }, splits: () => POWERS_OF_TEN, values: (_, splits) => splits.map((n) => (n === null ? "" : n >= MAX_PLOTTED ? "inf" : n <= 0.01 ? "≤0.01" : n >= 1e4 ? n.toExponential(0).replace("+", "") : String(n))), size: 64, label: "bounds", labelSize: 20 },
    ],
    series: [
      { label: "operator", value: (_, i) => (i === null ? "–" : name(i)) },
      ...runs.map(({ run, n }, i) => ({ label: run.label, stroke: runColour(n), width: 0, paths: () => null, points: { show: true, size: 4 + (i % 3), fill: i % 2 ? "transparent" : runColour(n) }, value: (_, __, ___, idx) => value(i, idx) })),
    ],
    hooks: {
      draw: [
        (plot) => {
          const y = plot.valToPos(MAX_ERROR, "y", true);
          plot.ctx.save();
          plot.ctx.strokeStyle = inkColour();
          plot.ctx.setLineDash([4, 4]);
          plot.ctx.beginPath();
          plot.ctx.moveTo(plot.bbox.left, y);
          plot.ctx.lineTo(plot.bbox.left + plot.bbox.width, y);
          plot.ctx.stroke();
          plot.ctx.restore();
        },
      ],
    },
  });
  return html`<figure>
    <figcaption>Worst error per operator version in bounds, largest first. The dashed line is the limit of ${MAX_ERROR} bounds. Click a point to open the operator.</figcaption>
    <${Plot} options=${options} data=${data} theme=${theme} onPick=${(i) => go(address(at, { page: "op", parts: [name(i)] }))} label="Worst error per operator version. The table below has the same numbers." />
    <details><summary>Table</summary><${VirtualTable} label="Worst errors" tall="30vh" count=${order.length}
      head=${html`<th scope="col">operator</th>${runs.map(({ run }) => html`<th scope="col">${run.label}</th>`)}`}
      row=${(i) => html`<th scope="row"><a href=${address(at, { page: "op", parts: [name(i)] })}>${name(i)}</a></th>${runs.map((_, r) => html`<td>${worst[r][order[i]] < 0 ? "" : formatMeasure(worst[r][order[i]])}</td>`)}`} /></details>
  </figure>`;
}
