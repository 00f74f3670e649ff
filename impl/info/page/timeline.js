// Zooms the drawings of the timeline: draws the events of a part of the time in place of all, and tells what one is.
if (trace) {
  const kinds = trace.kinds.map(([what, variable, level, component, region, from, to, routine, why, repeated]) =>
    ({ what, variable, level, component, region, from, to, routine, why, repeated }));
  const { kind, rank, time: begin, took, waited } = trace, count = begin.length, end = Math.max(trace.duration, 1e-3);
  const whats = ["routine", "device", "copy", "exchange"].filter(what => what !== "device" || kinds.some(k => k.what === what));
  const laneOf = i => trace.ranks.indexOf(rank[i]) * whats.length + whats.indexOf(kinds[kind[i]].what);
  const furthest = took.reduce((a, b) => Math.max(a, b), 0), lanes = trace.ranks.length * whats.length;
  const chart = find(".lanes"), plot = find(".plot", chart), plots = document.querySelectorAll(".plot");
  const laneHeight = plot.viewBox.baseVal.height / lanes;
  let selected = -1, from = 0, wide = end;

  function bytesText(n) {
    const units = ["B", "kB", "MB", "GB", "TB", "PB", "EB"];
    let unit = 0;
    for (; n >= 1000 && unit < units.length - 1; ++unit) n /= 1000;
    return `${unit === 0 ? n : n.toPrecision(4)} ${units[unit]}`;
  }
  function timeText(n) {
    if (n === 0) return "0";
    const [size, unit] = n < 1 ? [1e-3, "ns"] : n < 1e3 ? [1, "µs"] : n < 1e6 ? [1e3, "ms"] : [1e6, "s"];
    return `${n < 1 ? (n / size).toFixed(0) : (n / size).toPrecision(4)} ${unit}`;
  }
  const firstAt = time => { // of the events that begin there or later
    let low = 0, high = count;
    while (low < high) { const middle = (low + high) >> 1; if (begin[middle] < time) low = middle + 1; else high = middle; }
    return low;
  };
  function describe(i) {
    const k = kinds[kind[i]], n = trace.count?.[i] ?? 1;
    const where = `rank ${rank[i]}, at ${timeText(begin[i])}, ${timeText(took[i])}` + (waited[i] ? `, of that ${timeText(waited[i])} waiting for messages` : "") +
      (n > 1 ? `, ${n} events together` : "");
    if (k.what === "routine") return `${k.routine} in ${k.to}: ${where}`;
    if (k.what === "device") return `kernels of ${k.routine} in ${k.to}: ${where}`;
    const what = `${k.variable}[${k.level}]${k.component ? ` component ${k.component}` : ""} ${k.region}, ${k.from} to ${k.to}`;
    return `${what}, ${bytesText(trace.bytes[i])} for ${k.routine}: ${where}${k.why ? `. ${k.why}` : ""}`;
  }

  // As keel-info draws all: what is shorter than a pixel once for each pixel of its lane.
  function draw() {
    const paths = { routine: [], device: [], copy: [], exchange: [], repeated: [], waiting: [], selected: [] };
    const drawn = new Float64Array(lanes).fill(-1), pixel = wide / 880, tall = laneHeight * 0.76;
    const add = (paint, lane, at, width) => paths[paint].push(`M${at} ${(lane + 0.12) * laneHeight}h${width}v${tall}h${-width}z`);
    let shown = 0;
    for (let i = firstAt(from - furthest), stop = firstAt(from + wide); i < stop; ++i) {
      const width = Math.max(pixel, took[i]), lane = laneOf(i), k = kinds[kind[i]];
      if (begin[i] + width < from || begin[i] + width <= drawn[lane]) continue;
      drawn[lane] = Math.ceil((begin[i] + width) / pixel) * pixel;
      add(k.repeated ? "repeated" : k.what, lane, begin[i], width);
      if (waited[i] > 0) add("waiting", lane, begin[i] + (width - waited[i]) / 2, waited[i]);
      ++shown;
    }
    if (selected >= 0) add("selected", laneOf(selected), begin[selected], Math.max(3 * pixel, took[selected]));
    for (const path of plot.children) path.setAttribute("d", paths[path.classList[0]].join(""));
    for (const { viewBox } of plots) viewBox.baseVal.x = from, viewBox.baseVal.width = wide;
    document.querySelectorAll(".axis").forEach(axis => axis.querySelectorAll("text").forEach((text, n) => { // from the left end on
      text.textContent = (n > 0 && from > 0 ? "+ " : "") + timeText(n === 0 ? from : wide * n / 4);
    }));
    chart.dataset.drawn = shown;
  }
  function zoom(factor, at = from + wide / 2) {
    const next = Math.min(end, Math.max(wide * factor, 1e-3));
    from = Math.max(0, Math.min(end - next, at - (at - from) / wide * next));
    wide = next;
    draw();
  }
  function move(part) {
    from = Math.max(0, Math.min(end - wide, from + part * wide));
    draw();
  }
  function select(i) {
    if (i < 0 || i >= count) return;
    selected = i;
    find(".event").textContent = `Event ${i + 1} of ${count}: ${describe(i)}`;
    move(begin[i] < from || begin[i] > from + wide ? (begin[i] - from) / wide - 0.5 : 0);
  }
  const keys = {
    "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), "ArrowLeft": () => move(-0.2), "ArrowRight": () => move(0.2),
    "0": () => zoom(Infinity), "Home": () => zoom(Infinity),
    "n": () => select(selected < 0 ? firstAt(from) : selected + 1), "p": () => select(selected - 1),
  };
  chart.addEventListener("keydown", e => {
    if (!keys[e.key] || e.ctrlKey || e.metaKey || e.altKey) return;
    e.preventDefault();
    keys[e.key]();
  });
  const placeOf = e => { // in time, and in lanes
    const box = chart.getBoundingClientRect(), scale = box.width / 1000;
    return { at: from + ((e.clientX - box.left) / scale - 110) / 880 * wide, lane: Math.floor((e.clientY - box.top) / scale / laneHeight) };
  };
  let pressed = null;
  chart.addEventListener("pointerdown", e => { pressed = placeOf(e); });
  chart.addEventListener("pointerup", e => { // a part of the time, or the event under the pointer
    if (!pressed) return;
    const { at, lane } = placeOf(e), least = Math.min(at, pressed.at), part = Math.abs(at - pressed.at), slack = wide / 220;
    pressed = null;
    if (part > slack) return wide = Math.max(part, 1e-3), from = Math.max(0, Math.min(end - wide, least)), draw();
    for (let i = firstAt(at + slack) - 1; i >= 0 && begin[i] >= at - furthest - slack; --i)
      if (laneOf(i) === lane && begin[i] + took[i] >= at - slack) return select(i);
  });
  chart.addEventListener("dblclick", () => zoom(Infinity));
  chart.addEventListener("wheel", e => {
    if (!e.ctrlKey && !e.shiftKey) return; // the page scrolls
    e.preventDefault();
    zoom(e.deltaY + e.deltaX > 0 ? 1.25 : 0.8, placeOf(e).at);
  }, { passive: false });
}
document.documentElement.dataset.ready = "yes";
