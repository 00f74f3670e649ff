// Where the ranks of the run were allowed to run, and the node as boxes inside each other: a box for each locality, in it
// its memories, devices and cores; a core has the colour of its rank.

// Of "0-3,8": pairs of the first and last.
const rangesOf = threads => threads.split(",").map(range => range.split("-").map(Number)).map(([first, last = first]) => [first, last]);

// A rank's host, hardware threads, and the cores of the drawn node that these are of: null if the node is not the rank's.
function placeOf({ rank, host, threads }) {
  const ranges = rangesOf(threads), wanted = ranges.reduce((sum, [first, last]) => sum + last - first + 1, 0);
  const isWanted = thread => ranges.some(([first, last]) => first <= thread && thread <= last);
  const cores = report.node.cores.filter(c => c.hardware_threads.some(isWanted));
  const found = cores.reduce((sum, c) => sum + c.hardware_threads.filter(isWanted).length, 0);
  const isHere = found === wanted && (report.host === null || report.host === host);
  return { rank, host, threads, cores: isHere ? cores.map(c => c.id) : null };
}
const toldPlaces = new Map(); // by rank; the first part of a run
for (const file of trace ? trace.files : [])
  if (file.threads && !toldPlaces.has(file.rank)) toldPlaces.set(file.rank, placeOf(file));
const rankPlaces = [...toldPlaces.values()].sort((a, b) => a.rank - b.rank);
const drawnHost = report.map_was_asked_for ? undefined : rankPlaces.find(p => p.cores !== null)?.host; // of several the first

{
  const drawn = drawnHost === undefined ? report.map.map((p, rank) => ({ rank, ...p })) : rankPlaces.filter(p => p.cores !== null && p.host === drawnHost);
  const { memories, devices } = report.node;
  const ranksOf = core => drawn.filter(p => p.cores.includes(core)).map(p => p.rank);
  const nameOf = d => {
    const users = drawn.filter(p => p.device === d.id).map(p => p.rank);
    return `${d.type} ${d.pci_id ?? d.name}${users.length ? `: rank ${idsText(users)}` : ""}`;
  };
  const whole = make("div", { class: "place" }, make("div", {}, report.node.source));
  const innermost = new Map(report.node.cores.map(c => [c.id, whole])); // by core
  for (const box of report.boxes.sort((a, b) => b.cores.length - a.cores.length)) {
    const words = [...box.memories.map(m => `${memories[m].name} ${memories[m].type} ${sizeText(memories[m].bytes)}`), ...box.devices.map(d => nameOf(devices[d]))];
    if (box.cores.length === 1 && words.length === 0) continue;
    const place = make("div", { class: "place" }, ...words.map(line => make("div", {}, line)));
    innermost.get(box.cores[0]).append(place);
    for (const core of box.cores) innermost.set(core, place);
  }
  for (const { id } of report.node.cores) {
    const ranks = ranksOf(id), words = ranks.length ? `, rank ${idsText(ranks)}` : "";
    const square = make("span", { class: "core", title: `core ${id}${words}` }, `${id}`, make("br"), ranks.length ? `r${idsText(ranks)}` : "");
    if (ranks.length) square.style.background = `hsl(${ranks[0] * 137.5 % 360} 70% 82%)`; // hues stay apart
    innermost.get(id).append(square);
  }
  find(".drawing").append(whole);
  for (const place of whole.querySelectorAll(".place")) {
    const inside = place.querySelectorAll(":scope > .place, :scope > .core").length;
    place.style.gridTemplateColumns = `repeat(${Math.max(1, Math.ceil(Math.sqrt(inside)))}, max-content)`;
  }
}
