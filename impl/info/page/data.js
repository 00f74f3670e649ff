// The document, words for its numbers, and the theme. Everything on the page comes from here.
const report = JSON.parse(document.getElementById("data").textContent);
const trace = report.trace;
const find = (selector, within = document) => within.querySelector(selector);

function make(tag, attributes = {}, ...children) {
  const inSvg = ["svg", "g", "rect", "path", "text", "title"].includes(tag);
  const made = inSvg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

function bytesText(n) {
  if (n === null || n === undefined) return "not known";
  const units = ["B", "kB", "MB", "GB", "TB", "PB", "EB"];
  let unit = 0, value = n;
  while (value >= 1000 && unit < units.length - 1) value /= 1000, ++unit;
  return `${unit === 0 ? value : value.toPrecision(4)} ${units[unit]}`;
}
// Of memories, which have sizes of powers of two.
function sizeText(n) {
  if (n === 0) return "";
  const units = ["B", "KiB", "MiB", "GiB", "TiB"], unit = Math.min(4, Math.floor(Math.log2(n) / 10)), value = n / 1024 ** unit;
  return `${value < 10 && unit > 0 ? value.toFixed(1) : value.toFixed(0)} ${units[unit]}`;
}
function timeText(microseconds) {
  const n = Math.abs(microseconds);
  if (n === 0) return "0";
  if (n < 1) return `${(microseconds * 1e3).toFixed(0)} ns`;
  if (n < 1e3) return `${microseconds.toPrecision(4)} µs`;
  if (n < 1e6) return `${(microseconds / 1e3).toPrecision(4)} ms`;
  return `${(microseconds / 1e6).toPrecision(4)} s`;
}
// "0-3,8"
function idsText(ids) {
  const parts = [];
  for (let i = 0; i < ids.length;) {
    let end = i;
    while (end + 1 < ids.length && ids[end + 1] === ids[end] + 1) ++end;
    parts.push(end > i ? `${ids[i]}-${ids[end]}` : `${ids[i]}`);
    i = end + 1;
  }
  return parts.join(",") || "-";
}

// Charts are drawn on canvas and have to be told.
const onTheme = [];
const colour = name => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
const themes = ["system", "dark", "light"], system = matchMedia("(prefers-color-scheme: dark)");
let theme = "system";
function applyTheme() {
  const isDark = theme === "system" ? system.matches : theme === "dark";
  document.documentElement.dataset.theme = isDark ? "dark" : "light";
  find("#theme").textContent = `Theme: ${theme}`;
  for (const tell of onTheme) tell();
}
find("#theme").addEventListener("click", () => { theme = themes[(themes.indexOf(theme) + 1) % 3]; applyTheme(); });
system.addEventListener("change", applyTheme);
applyTheme();

if (!trace) document.querySelectorAll("[data-needs]").forEach(section => section.remove());
else if (trace.schedules.length === 0) find("#schedule").remove();
document.querySelectorAll("section").forEach(section =>
  find("nav").append(make("a", { href: `#${section.id}` }, find("h2", section).textContent)));
