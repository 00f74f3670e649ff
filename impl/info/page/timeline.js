// Events on lanes, a few for each rank, drawn by hand on the axes of uPlot; below, the bytes that moved.
if (trace) {
  const kinds = trace.kinds.map(([what, variable, level, component, region, from, to, routine, why, repeated]) =>
    ({ what, variable, level, component, region, from, to, routine, why, repeated }));
  const kindOf = Uint32Array.from(trace.kind), rankOf = Uint32Array.from(trace.rank);
  const begin = Float64Array.from(trace.time), took = Float64Array.from(trace.took), count = begin.length;
  const waited = Float64Array.from(trace.waited);
  const isThere = what => kinds.some(k => k.what === what);
  const whats = ["routine", "device", "copy", "exchange"].filter(what => what !== "device" || isThere(what)), each = whats.length;
  const lanes = [], laneOfRank = new Map(), copyLane = whats.indexOf("copy");
  for (const rank of trace.ranks) {
    laneOfRank.set(rank, lanes.length);
    for (const what of whats) lanes.push(`${what} ${rank}`);
  }
  const laneOf = new Uint32Array(count), longest = new Float64Array(lanes.length);
  const whatOf = Uint8Array.from(kinds, k => whats.indexOf(k.what));
  const paintOf = whatOf.map((what, k) => kinds[k].repeated ? whats.length : what), paints = [...whats, "repeated", "waiting"];
  for (let i = 0; i < count; ++i) {
    laneOf[i] = laneOfRank.get(rankOf[i]) + whatOf[kindOf[i]];
    if (took[i] > longest[laneOf[i]]) longest[laneOf[i]] = took[i];
  }
  const end = Math.max(trace.duration, 1e-3), furthest = longest.reduce((a, b) => Math.max(a, b), 0), laneHeight = lanes.length > 48 ? 8 : 18;
  let selected = -1;

  const firstAt = time => { // of the events that begin there or later
    let low = 0, high = count;
    while (low < high) { const middle = (low + high) >> 1; if (begin[middle] < time) low = middle + 1; else high = middle; }
    return low;
  };
  function describe(i) {
    const k = kinds[kindOf[i]], n = trace.count?.[i] ?? 1;
    const where = `rank ${rankOf[i]}, at ${timeText(begin[i])}, ${timeText(took[i])}` + (waited[i] ? `, of that ${timeText(waited[i])} waiting for messages` : "") +
      (n > 1 ? `, ${n} events together` : "");
    if (k.what === "routine") return `${k.routine} in ${k.to}: ${where}`;
    if (k.what === "device") return `kernels of ${k.routine} in ${k.to}: ${where}`;
    const what = `${k.variable}[${k.level}]${k.component ? ` component ${k.component}` : ""} ${k.region}, ${k.from} to ${k.to}`;
    return `${what}, ${bytesText(trace.bytes[i])} for ${k.routine}: ${where}${k.why ? `. ${k.why}` : ""}`;
  }

  // What is shorter than a pixel is drawn once for each pixel of its lane.
  function drawLanes(u) {
    const { ctx } = u, ratio = devicePixelRatio, { left, top, width, height } = u.bbox, row = height / lanes.length;
    const from = u.scales.x.min, to = u.scales.x.max, perUnit = width / (to - from);
    const colours = paints.map(colour), drawn = new Float64Array(lanes.length).fill(-1);
    ctx.save();
    ctx.beginPath();
    ctx.rect(left, top, width, height);
    ctx.clip();
    let shown = 0, last = -1;
    for (let i = firstAt(from - furthest), stop = firstAt(to); i < stop; ++i) {
      const a = left + (begin[i] - from) * perUnit, b = Math.max(a + ratio, a + took[i] * perUnit), lane = laneOf[i];
      if (b < left || b <= drawn[lane]) continue;
      drawn[lane] = Math.ceil(b);
      const paint = paintOf[kindOf[i]];
      if (paint !== last) last = paint, ctx.fillStyle = colours[paint];
      ctx.fillRect(a, top + lane * row + row * 0.12, b - a, row * 0.76);
      if (waited[i] > 0) {
        const part = waited[i] * perUnit;
        ctx.fillStyle = colours[last = each + 1];
        ctx.fillRect((a + b - part) / 2, top + lane * row + row * 0.12, part, row * 0.76);
      }
      ++shown;
    }
    ctx.strokeStyle = colour("line");
    ctx.lineWidth = ratio;
    ctx.beginPath();
    for (let lane = each; lane < lanes.length; lane += each) ctx.moveTo(left, top + lane * row), ctx.lineTo(left + width, top + lane * row);
    ctx.stroke();
    if (selected >= 0) {
      ctx.strokeStyle = colour("ink");
      ctx.lineWidth = 2 * ratio;
      const a = left + (begin[selected] - from) * perUnit;
      ctx.strokeRect(a - ratio, top + laneOf[selected] * row, Math.max(3 * ratio, took[selected] * perUnit + 2 * ratio), row);
    }
    ctx.restore();
    window.drawnEvents = shown;
  }

  const axis = { stroke: () => colour("soft"), grid: { stroke: () => colour("line"), width: 1 }, ticks: { stroke: () => colour("line") } };
  const timeAxis = { ...axis, values: timeTicks, space: 90 };
  // In the unit of the largest, with as many digits as tell neighbours apart.
  function timeTicks(u, ticks, axis, space, step) {
    const most = Math.max(...ticks.map(Math.abs)), [unit, size] = most < 1 ? ["ns", 1e-3] : most < 1e3 ? ["µs", 1] : most < 1e6 ? ["ms", 1e3] : ["s", 1e6];
    const digits = Math.max(0, Math.ceil(-Math.log10(step / size) - 1e-9));
    return ticks.map(at => `${(at / size).toFixed(digits)} ${unit}`);
  }
  const holder = find(".lanes"), bytesHolder = find(".bytes");
  const narrow = () => holder.clientWidth < 600;
  const sides = () => narrow() ? 92 : 110;
  const lanesHeight = () => Math.min(900, 60 + lanes.length * laneHeight);
  const zoomed = u => { for (const other of charts) if (other !== u) setRange(other, u.scales.x.min, u.scales.x.max); };
  const setRange = (u, min, max) => { if (u.scales.x.min !== min || u.scales.x.max !== max) u.setScale("x", { min, max }); };
  const options = {
    width: holder.clientWidth, legend: { show: false },
    cursor: { drag: { x: true, y: false, dist: 3 }, y: false, points: { show: false } },
  };
  const charts = [];
  charts.push(new uPlot({
    ...options, height: lanesHeight(),
    scales: { x: { time: false, min: 0, max: end }, y: { range: [0, lanes.length] } },
    axes: [timeAxis, {
      ...axis, size: sides, grid: { show: false }, gap: 4,
      splits: () => lanes.map((_, i) => i).filter(i => laneHeight > 8 || i % each === 1).map(i => lanes.length - i - 0.5),
      values: (u, at) => at.map(y => { const n = Math.round(lanes.length - y - 0.5); return laneHeight > 8 ? lanes[n] : `rank ${trace.ranks[(n - 1) / each]}`; }),
    }],
    series: [{}, { show: true, paths: () => null, points: { show: false } }],
    hooks: { draw: [drawLanes], setScale: [(u, key) => { if (key === "x") zoomed(u); }] },
  }, [[0, end], [null, null]], holder));

  // Cumulative, by when copies ended, at no more than 2000 times.
  const copies = [];
  for (let i = 0; i < count; ++i) if (whatOf[kindOf[i]] === copyLane) copies.push(i);
  copies.sort((i, j) => begin[i] + took[i] - begin[j] - took[j]);
  const step = Math.max(1, Math.ceil(copies.length / 2000)), times = [0], moved = [0], least = [0];
  let all = 0, needed = 0;
  copies.forEach((i, n) => {
    all += trace.bytes[i];
    needed += kinds[kindOf[i]].repeated ? 0 : trace.bytes[i];
    if (n % step === step - 1 || n === copies.length - 1) times.push(begin[i] + took[i]), moved.push(all), least.push(needed);
  });
  if (times[times.length - 1] < end) times.push(end), moved.push(all), least.push(needed);
  window.movedAt = times;
  if (copies.length === 0) bytesHolder.replaceWith(make("p", {}, "Nothing moved: all routines worked in one memory."));
  else charts.push(new uPlot({
    ...options, height: 220, legend: { show: true },
    scales: { x: { time: false, min: 0, max: end } },
    axes: [timeAxis, { ...axis, size: sides, values: (u, ticks) => ticks.map(bytesText) }],
    series: [{ label: "time", value: (u, v) => v === null ? "-" : timeText(v) },
      { label: "moved", stroke: () => colour("copy"), width: 2, paths: uPlot.paths.stepped({ align: 1 }), value: (u, v) => v === null ? "-" : bytesText(v) },
      { label: "needed", stroke: () => colour("exchange"), width: 2, dash: [6, 4],
        paths: uPlot.paths.stepped({ align: 1 }), value: (u, v) => v === null ? "-" : bytesText(v) }],
    hooks: { setScale: [(u, key) => { if (key === "x" && charts.includes(u)) zoomed(u); }] },
  }, [times, moved, least], bytesHolder));

  const legend = [["routine", "calls of routines"], ["device", "their kernels on the device"], ["copy", "copies"], ["repeated", "copies that were not needed"],
    ["exchange", "exchanges"], ["waiting", "waiting for messages"]].filter(([name]) =>
    name === "repeated" ? kinds.some(k => k.repeated) : name === "waiting" ? waited.some(t => t > 0) : isThere(name));
  if (trace.thinned) find(".thinned").textContent = `Of ${trace.thinned.events} events, those of one kind that began within ${timeText(trace.thinned.within)} ` +
    `are drawn as one, as long as all of them: ${count} in all. The tables count each.`;
  find(".legend").append(...legend.map(([name, words]) => make("span", {}, make("i", { style: `background: var(--${name})` }), words)));

  const [u] = charts;
  function zoom(factor, at = (u.scales.x.min + u.scales.x.max) / 2) {
    const wide = Math.min(end, Math.max((u.scales.x.max - u.scales.x.min) * factor, 1e-3));
    const from = Math.max(0, Math.min(end - wide, at - (at - u.scales.x.min) / (u.scales.x.max - u.scales.x.min) * wide));
    u.setScale("x", { min: from, max: from + wide });
  }
  function move(part) {
    const wide = u.scales.x.max - u.scales.x.min, from = Math.max(0, Math.min(end - wide, u.scales.x.min + part * wide));
    u.setScale("x", { min: from, max: from + wide });
  }
  function select(i) {
    if (i < 0 || i >= count) return;
    selected = i;
    find(".event").textContent = `Event ${i + 1} of ${count}: ${describe(i)}`;
    if (begin[i] < u.scales.x.min || begin[i] > u.scales.x.max) move((begin[i] - u.scales.x.min) / (u.scales.x.max - u.scales.x.min) - 0.5);
    u.redraw(false);
  }
  const keys = {
    "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), "ArrowLeft": () => move(-0.2), "ArrowRight": () => move(0.2),
    "0": () => zoom(Infinity), "Home": () => zoom(Infinity),
    "n": () => select(selected < 0 ? firstAt(u.scales.x.min) : selected + 1), "p": () => select(selected - 1),
  };
  holder.addEventListener("keydown", e => {
    if (!keys[e.key] || e.ctrlKey || e.metaKey || e.altKey) return;
    e.preventDefault();
    keys[e.key]();
  });
  holder.addEventListener("dblclick", () => zoom(Infinity));
  u.over.addEventListener("wheel", e => {
    if (!e.ctrlKey && !e.shiftKey) return; // the page scrolls
    e.preventDefault();
    zoom(e.deltaY + e.deltaX > 0 ? 1.25 : 0.8, u.posToVal(e.offsetX, "x"));
  }, { passive: false });
  u.over.addEventListener("click", e => { // the event under the pointer, or the next within 4 pixels
    const lane = Math.floor(e.offsetY / u.over.clientHeight * lanes.length), at = u.posToVal(e.offsetX, "x");
    const slack = 4 * (u.scales.x.max - u.scales.x.min) / u.over.clientWidth;
    for (let i = firstAt(at + slack) - 1; i >= 0 && begin[i] >= at - longest[lane] - slack; --i)
      if (laneOf[i] === lane && begin[i] + took[i] >= at - slack) return select(i);
  });
  new ResizeObserver(() => {
    u.setSize({ width: holder.clientWidth, height: lanesHeight() });
    charts[1]?.setSize({ width: bytesHolder.clientWidth, height: 220 });
  }).observe(holder);
  onTheme.push(() => charts.forEach(chart => chart.redraw(false, true)));
}
