// Tiles, warnings, and tables that sort by a click on a head.
const text = (name, of, how = {}) => ({ name, of, show: of, ...how });
const number = (name, of, show = of) => ({ name, of, show, isNumber: true });

const rowsAtOnce = 200; // a browser takes seconds to lay out a table of a hundred thousand

function table(holder, columns, rows) {
  if (rows.length === 0) return holder.append(make("p", {}, "Nothing."));
  const body = make("tbody"), head = make("tr"), more = make("button", { type: "button", class: "more" });
  let found = rows, drawn = 0;
  const draw = end => {
    for (; drawn < Math.min(end, found.length); ++drawn)
      body.append(make("tr", {}, ...columns.map(c =>
        make("td", c.isNumber ? { class: "number", "data-value": c.of(found[drawn]) } : { class: c.isLong ? "long" : "nowrap" }, String(c.show(found[drawn]))))));
    more.hidden = drawn === found.length;
    more.textContent = `Show more rows; ${drawn} of ${found.length} are here`;
  };
  const begin = () => { drawn = 0; body.replaceChildren(); draw(rowsAtOnce); };
  columns.forEach(c => {
    const button = make("button", { type: "button" }, c.name), cell = make("th", { scope: "col", class: c.isNumber ? "number" : "" }, button);
    button.addEventListener("click", () => {
      const sign = cell.getAttribute("aria-sort") === (c.isNumber ? "descending" : "ascending") === c.isNumber ? 1 : -1;
      head.childNodes.forEach(other => other.removeAttribute("aria-sort"));
      cell.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
      found.sort((a, b) => sign * (c.of(a) < c.of(b) ? -1 : c.of(a) > c.of(b) ? 1 : 0));
      begin();
    });
    head.append(cell);
  });
  more.addEventListener("click", () => draw(2 * drawn));
  if (rows.length > rowsAtOnce) {
    const words = make("input", { type: "search", "aria-label": "Rows that hold these words", placeholder: "Find rows, then Enter" });
    words.addEventListener("change", () => {
      const wanted = words.value.toLowerCase();
      found = rows.filter(row => columns.some(c => String(c.show(row)).toLowerCase().includes(wanted)));
      begin();
    });
    holder.before(words);
  }
  begin();
  holder.tabIndex = 0;
  holder.append(make("table", {}, make("thead", {}, head), body), more);
}

const counted = (items, one, many) => `${items.length} ${items.length === 1 ? one : many}`;
const wrong = report.findings.filter(f => f.wrong).length;
const tiles = [];
if (trace) {
  tiles.push([trace.ranks.length, trace.ranks.length === 1 ? "rank" : "ranks"], [timeText(trace.duration), "from first to last event"],
    [trace.copies, "copies"], [bytesText(trace.moved), "moved between memories"], [bytesText(trace.least), "of that, needed"],
    [bytesText(trace.sent), "sent to neighbours"]);
}
tiles.push([report.node.cores.length, "cores"], [report.node.devices.filter(d => d.type === "gpu").length, "GPUs"], [wrong, wrong === 1 ? "warning" : "warnings"]);
find(".tiles").append(...tiles.map(([value, words]) => make("div", {}, make("b", {}, String(value)), make("span", {}, words))));
find("#summary .note").textContent = !trace ? "" : "Not counted: what the program does outside of keel's routines, copies and exchanges, " +
  "and what a device does other than kernels of routines, such as packing ghosts. A traced run is slower than another; compare its times with each other.";
// Which program, when, where, and of which keel.
const dateText = microseconds => `${new Date(microseconds / 1e3).toISOString().slice(0, 16).replace("T", " ")} UTC`;
const versionText = n => n ? `keel ${Math.floor(n / 1e4)}.${Math.floor(n / 100) % 100}.${n % 100}` : "a keel that does not tell its version";
const hosts = [...new Set(rankPlaces.map(p => p.host))], hostNames = hosts.filter(host => host);
find("#summary .about").textContent = trace
  ? `${trace.program || "A program"}, ${counted(trace.ranks, "rank", "ranks")} on ${hostNames.slice(0, 3).join(", ") || "a host that is not known"}` +
    `${hostNames.length > 3 ? ", …" : ""}, began ${dateText(trace.begin)}, with ${versionText(trace.of_keel)}.`
  : `No run, only the node ${report.node.source}: written ${dateText(report.written)} by ${versionText(report.of_keel)}.`;
find(".findings").append(...report.findings.map(f =>
  make("li", { class: f.wrong ? "wrong" : "" }, `${f.wrong ? "Wrong" : "Note"}: ${f.text.replace(/^keel::info: /, "")}`)));
if (report.findings.length === 0) find(".findings").append(make("li", {}, "Nothing is wrong."));

function aboutRanks() {
  if (drawnHost !== undefined)
    return "Each rank is drawn on the cores that it might run on when its trace began." +
      (hosts.length > 1 ? ` Of ${hosts.length} hosts, ${drawnHost} is drawn.` : "");
  return "Ranks are drawn where keel places them." + (hosts.length === 0 || rankPlaces.some(p => p.cores !== null) ? ""
    : ` The run was on ${hosts.slice(0, 3).join(", ")}${hosts.length > 3 ? ", …" : ""}, not on this node: --xml FILE draws its cores.`);
}
find("#node .about").textContent = `${report.node.source}: ${counted(report.node.cores, "core", "cores")}, ` +
  `${counted(report.node.memories, "memory", "memories")}, ${counted(report.node.devices, "device", "devices")}. ${aboutRanks()}`;
const memories = report.node.memories, devices = report.node.devices;
const planned = report.map.map((p, rank) => ({ rank, ...p }));
const places = [text("rank", p => p.rank), text("host", p => p.host || "-"), text("cores", p => p.cores === null ? "not known" : idsText(p.cores)),
  text("hardware threads", p => p.threads ?? idsText(p.hardware_threads))];
const near = [text("memory", p => p.memory === null ? "-" : memories[p.memory].name),
  text("device", p => p.device === null ? "-" : `${devices[p.device].type} ${devices[p.device].pci_id ?? devices[p.device].name}`)];
const asPlanned = rankPlaces.length === planned.length && rankPlaces.every(p => p.cores !== null && planned[p.rank] && idsText(p.cores) === idsText(planned[p.rank].cores));
if (rankPlaces.length > 0) {
  find('[data-of="places"]').before(make("h3", {}, asPlanned ? "Where the ranks were, as keel would place them" : "Where the ranks were"));
  table(find('[data-of="places"]'), asPlanned ? [...places, ...near] : places, rankPlaces.map(p => ({ ...planned[p.rank], ...p })));
}
if (!asPlanned) {
  if (rankPlaces.length > 0) find('[data-of="map"]').before(make("h3", {}, "Where keel would place them"));
  table(find('[data-of="map"]'), [places[0], ...places.slice(2), ...near], planned);
}

find("#knobs .about").textContent = report.knobs_of_run
  ? "As they were when the run began, and who set them: code, environment, command line; those that are unset have keel's proposal."
  : "Of a program that starts where this page was written; the trace has none.";
const knobColumns = [
  text("knob", k => k.option), text("device", k => k.device || "-"), text("value", k => k.value || "-"),
  text("set by", k => k.source),
  ...(report.knobs_of_run ? [text("ranks", k => idsText(k.ranks))] : []),
];
const unset = report.knobs.filter(k => k.source === "unset");
table(find('[data-of="knobs"]'), knobColumns, report.knobs.filter(k => k.source !== "unset"));
find("#knobs summary").textContent = `${counted(unset, "knob", "knobs")} that nothing set`;
table(find('[data-of="unset"]'), knobColumns, unset);

if (trace) {
  const copyRows = trace.by_variable.map(([variable, routine, from, to, why, bytes, least, times, took, waited, first, last]) =>
    ({ variable, routine, from, to, why, bytes, least, times, took, waited, first, last })).sort((a, b) => b.bytes - a.bytes);
  table(find('[data-of="copies"]'), [
    text("variable", r => r.variable), text("way", r => `${r.from} to ${r.to}`), text("routine", r => r.routine),
    text("why", r => r.why || (r.to === "neighbours" ? "ghosts" : "not known"), { isLong: true }), number("times", r => r.times),
    number("bytes", r => r.bytes, r => bytesText(r.bytes)), number("needed", r => r.least, r => bytesText(r.least)), number("time", r => r.took, r => timeText(r.took)),
    number("waiting", r => r.waited, r => r.waited ? timeText(r.waited) : "-"),
    number("first", r => r.first, r => timeText(r.first)), number("last", r => r.last, r => timeText(r.last)),
  ], copyRows);
  const onDevice = trace.by_routine.some(r => r.on_device !== null), isFar = trace.by_routine.some(r => r.memory !== "host");
  find("#routines .about").textContent = "How long routines held the program's thread up" +
    (onDevice ? ", and how long the device ran their kernels, from the first to the last." : ".") +
    (isFar && !onDevice ? " The device does not say when it runs their kernels, which may go on after the call: neither the table nor the timeline has them." : "");
  table(find('[data-of="routines"]'), [
    text("routine", r => r.routine), text("in", r => r.memory), number("times", r => r.times),
    number("time", r => r.took, r => timeText(r.took)), number("mean", r => r.took / r.times, r => timeText(r.took / r.times)),
    ...(onDevice ? [number("on the device", r => r.on_device ?? -1, r => r.on_device === null ? "-" : timeText(r.on_device))] : []),
    number("first", r => r.first, r => timeText(r.first)), number("last", r => r.last, r => timeText(r.last)),
  ], trace.by_routine);
}
