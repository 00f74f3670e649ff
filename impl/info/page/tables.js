// The theme, and tables that sort by a click on a head and find rows.
const trace = JSON.parse(document.getElementById("data").textContent); // null without a run
const find = (selector, within = document) => within.querySelector(selector);

function make(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

const themes = { system: "light dark", dark: "dark", light: "light" };
let theme = "system";
find("#theme").addEventListener("click", () => {
  const names = Object.keys(themes);
  theme = names[(names.indexOf(theme) + 1) % names.length];
  document.documentElement.style.colorScheme = themes[theme];
  find("#theme").textContent = `Theme: ${theme}`;
});

for (const table of document.querySelectorAll("table")) {
  const body = table.tBodies[0], all = [...body.rows], head = table.tHead.rows[0];
  for (const cell of head.cells) {
    const button = make("button", { type: "button" }, cell.textContent), at = cell.cellIndex, isNumber = cell.className === "number";
    const compare = (a, b) => isNumber ? a.cells[at].dataset.value - b.cells[at].dataset.value
      : a.cells[at].textContent.localeCompare(b.cells[at].textContent, "en", { numeric: true });
    button.addEventListener("click", () => {
      const [first, then] = isNumber ? ["descending", "ascending"] : ["ascending", "descending"];
      const next = cell.ariaSort === first ? then : first;
      for (const other of head.cells) other.ariaSort = null;
      cell.ariaSort = next;
      body.append(...all.sort((a, b) => (next === "ascending" ? 1 : -1) * compare(a, b)));
    });
    cell.replaceChildren(button);
  }
  if (all.length > 50) {
    const words = make("input", { type: "search", "aria-label": "Rows that hold these words", placeholder: "Find rows, then Enter" });
    words.addEventListener("change", () => {
      for (const row of all) row.hidden = !row.textContent.toLowerCase().includes(words.value.toLowerCase());
    });
    table.parentElement.before(words);
  }
}
