// Help, name, flag, exports, filters and the list of items.

import { get } from "./api.js";
import { labelName, MANY, percent } from "./panels.js";
import { make, visible } from "./visible.js";

export const $ = (id) => document.getElementById(id);

/** Open a dialog; resolves to whether it was confirmed. */
export function ask(id) {
  const dialog = $(id);
  dialog.returnValue = "";
  if (!dialog.open) dialog.showModal();
  return new Promise((done) => {
    dialog.addEventListener("close", () => done(dialog.returnValue === "yes"), { once: true });
  });
}

const KEYS = [
  [["Enter"], "store what is shown, and go on"],
  [["0"], "no entity", "spans"],
  [["←", "→"], "move the span", "spans"],
  [["←", "→"], "go to another token", "tags"],
  [["Shift ←", "Shift →"], "move its end", "spans"],
  [["Alt ←", "Alt →"], "move its start", "spans"],
  [["↑", "↓"], "another span of the sentence", "spans"],
  [["."], "find a label by its name", "many"],
  [["V"], "what annotators said, one after the other"],
  [["Esc"], "as it was"],
  [["S"], "skip: I cannot tell"],
  [["F"], "flag: somebody should look at it, with a note"],
  [["U", "Ctrl Z"], "take back the last decision"],
  [["/"], "search"],
  [["Shift B"], "list of items"],
  [["Shift L"], "filters"],
  [["Shift R"], "learn from the decisions now"],
  [["Shift E"], "export"],
  [["Shift N"], "another name"],
  [["Shift D"], "light or dark"],
];

/** The keys in words; labels have theirs beside their names. */
export function fillHelp(corpus) {
  const kinds = [undefined, corpus.spans ? "spans" : "tags", corpus.labels.length > MANY && "many"];
  const rows = KEYS.filter(([, , only]) => kinds.includes(only)).flatMap(([keys, does]) => [
    make("dt", {}, ...keys.flatMap((key, i) => [i ? " " : "", make("kbd", {}, key)])),
    make("dd", {}, does),
  ]);
  const how = "A digit or a letter gives the span its label; the same key again stores it. "
    + "With the mouse: click a word, or sweep over several.";
  $("keys").replaceChildren(make("p", { class: "remark" }, how), make("dl", {}, ...rows));
}

/** Links to everything that can be taken away; those to labels wait for the first fit. */
export function fillExports(corpus) {
  const early = corpus.revision === 0;
  const waits = "Waits for the first fit: until it is done there is only the majority of the votes.";
  const entry = (address, title, says, waiting = early) => {
    const link = waiting ? { role: "link", "aria-disabled": "true" }
      : { href: address, download: true };
    return make("li", {}, make("a", link, title), make("span", {}, waiting ? waits : says));
  };
  const options = corpus.formats.map(({ name, title }) =>
    make("option", { value: name }, visible(title, 80)));
  const attributes = { id: "format", "aria-label": "Format", disabled: early };
  const formats = make("select", attributes, ...options);
  const address = () => `export/corpus?format=${encodeURIComponent(formats.value)}`;
  const checked = entry(address(), "The checked corpus", "The labels as they stand now.");
  formats.addEventListener("change", () => {
    checked.querySelector("a").href = address();
  });
  checked.append(formats);
  const decisions = "JSON lines: who decided what and when, before and after.";
  const predictions = "Tasks with predictions, ready for import.";
  $("export-list").replaceChildren(make("ul", { class: "files" }, checked,
    entry("export/decisions", "All decisions", decisions, false),
    entry("export/label-studio", "Label Studio predictions", predictions)));
}

const STATES = Object.entries({
  "": "open", skipped: "skipped by you", flagged: "flagged", checked: "checked",
});

/** Selects for the filters; `changed` is called with what is chosen. */
export function fillFilters(corpus, chosen, changed) {
  const form = $("filters");
  const select = (name, title, options) => {
    const shown = options.map(([value, text]) =>
      make("option", { value, selected: (chosen[name] ?? "") === value }, visible(text, 60)));
    return make("label", {}, title, make("select", { name }, ...shown));
  };
  const labels = corpus.outside ? [...corpus.labels, "O"] : corpus.labels;
  const named = labels.map((label) => [label, labelName(label)]);
  const people = corpus.annotators.map(({ name }) => [name, name]);
  const kinds = corpus.kinds.map(({ name, title, items }) =>
    [name, `${title} (${items.toLocaleString()})`]);
  const against = select("annotator", "Against the vote of", [["", "anybody"], ...people]);
  form.replaceChildren(
    select("label", "Label", [["", "any"], ...named]),
    ...(people.length ? [against] : []),
    select("kind", "Why", [["", "any reason"], ...kinds]),
    select("state", "State", STATES),
    make("button", { type: "button", "data-do": "clear" }, "Clear"),
    make("button", { type: "button", "data-do": "list", title: "Shift+B" }, "List"));
  form.onchange = () => {
    const told = [...new FormData(form)].filter(([, value]) => value);
    changed(Object.fromEntries(told));
  };
}

/** A page of the items that match, to pick one; `open` is called with its id. */
export async function fillList(reviewer, filters, page, open) {
  const answer = await get("api/search", { reviewer, page, ...filters });
  const row = (one) => {
    const { state } = one;
    const button = make("button", { type: "button", class: "row", "data-item": one.id },
      make("span", { class: "score" }, one.score === null ? "" : percent(one.score)),
      make("span", { class: "quote" }, visible(one.left, 60), " ",
        make("b", {}, visible(one.words, 80)), " ", visible(one.right, 60)),
      make("span", { class: "kind" }, labelName(one.label), state === "open" ? "" : ` · ${state}`));
    button.addEventListener("click", () => { $("list").close(); open(one.id); });
    return make("li", {}, button);
  };
  const turn = (to, text) => {
    const disabled = to < 0 || to * 50 >= answer.found;
    const button = make("button", { type: "button", disabled }, text);
    button.addEventListener("click", () => fillList(reviewer, filters, to, open));
    return button;
  };
  $("rows").onkeydown = ({ key }) => {
    const here = document.activeElement.closest("li");
    const next = { ArrowDown: here?.nextSibling, ArrowUp: here?.previousSibling }[key];
    next?.firstChild.focus();
  };
  $("found").textContent = `${answer.found.toLocaleString()} items, the most doubtful first`;
  $("rows").replaceChildren(...answer.rows.map(row));
  $("turns").replaceChildren(turn(page - 1, "Before"), turn(page + 1, "Next"));
  $("rows").querySelector("button")?.focus();
}
