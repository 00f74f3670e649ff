// A schedule as a list of its entries, with arcs from writers to readers; those within a step at the right, those into the
// next step at the left.
if (trace) {
  const pen = document.createElement("canvas").getContext("2d"), most = 110;
  pen.font = `13px ${getComputedStyle(document.body).fontFamily}`; // the larger one of page.css
  const short = name => name.length > most ? name.slice(0, most - 1) + "…" : name;
  for (const schedule of trace.schedules) {
    const row = 34, boxHeight = 24, left = 130, entries = schedule.entries;
    const widthOf = e => 18 * e.depth + Math.ceil(pen.measureText(short(e.name)).width + pen.measureText(e.memory || "").width) + 36;
    const boxWidth = Math.max(300, ...entries.map(widthOf));
    const placeOf = new Map(entries.map((e, i) => [e.number, i])), middle = i => i * row + row / 2 + 8;
    const height = entries.length * row + 16, width = left + boxWidth + 330;
    const svg = make("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Schedule ${schedule.name}` });
    entries.forEach((e, i) => {
      const x = left + 18 * e.depth, isFar = e.memory && e.memory !== "host";
      svg.append(make("rect", { class: isFar ? "box far" : "box", x, y: middle(i) - boxHeight / 2, width: boxWidth - 18 * e.depth, height: boxHeight, rx: 4 }),
        make("text", { x: x + 8, y: middle(i) + 4 }, short(e.name), make("title", {}, e.name)), make("text", { class: "soft", x: left + boxWidth - 8, y: middle(i) + 4, "text-anchor": "end" }, e.memory));
    });
    const arcs = new Map(); // flows that share writer, reader and manner
    for (const f of schedule.flows) {
      const key = [f.writer, f.reader, f.copied, f.crosses].join();
      if (!arcs.has(key)) arcs.set(key, { ...f, data: [] });
      arcs.get(key).data.push(f.data);
    }
    for (const a of arcs.values()) {
      const from = middle(placeOf.get(a.writer)), to = middle(placeOf.get(a.reader)), side = a.crosses ? left : left + boxWidth;
      const reach = Math.min(a.crosses ? 110 : 300, 24 + Math.abs(to - from) * 0.35) * (a.crosses ? -1 : 1);
      const words = `${entries[placeOf.get(a.writer)].name} → ${entries[placeOf.get(a.reader)].name}: ${a.data.join(", ")}` +
        `; copied ${a.copied || "never"}${a.crosses ? "; in the next step" : ""}`;
      const shift = from === to ? 6 : 0;
      svg.append(make("path", { class: `${a.copied}${a.crosses ? " crosses" : ""}`,
        d: `M${side} ${from - shift} C${side + reach} ${from - shift} ${side + reach} ${to + shift} ${side} ${to + shift}` }, make("title", {}, words)));
    }
    const holder = make("div", { class: "table", "data-of": "flows" });
    find(".graphs").append(make("h3", {}, schedule.name),
      make("p", {}, "Thick: copied in every step. Dashed: copied where conditions ask for it. Thin: the data stay. Left: into the next step."),
      make("div", { class: "wide", tabindex: 0 }, svg), holder);
    table(holder, [text("written by", a => entries[placeOf.get(a.writer)].name), text("read by", a => entries[placeOf.get(a.reader)].name),
      text("data", a => a.data.join(", "), { isLong: true }), text("copied", a => a.copied || "-"), text("step", a => a.crosses ? "next" : "same")], [...arcs.values()]);
  }
}
document.documentElement.dataset.ready = "yes";
