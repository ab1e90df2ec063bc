// What is shown of an item beside its sentence: why it is here, labels, votes.

import { make, visible } from "./visible.js";

const HUES = [1, 0, 2, 5, 9, 11, 7, 10, 8, 6, 12, 13]; // of the palette, those that differ most
const MANY = 12; // labels that have room for their bars

export const percent = (share) => (share > 0.995 && share < 1 ? "> 99 %" : `${Math.round(100 * share)} %`);

/** The colour of every label. */
export function colours(labels) {
  const places = new Map(labels.map((label, i) => [label, HUES[i % HUES.length]]));
  return (label) => (places.has(label) ? `var(--s${places.get(label)})` : "var(--muted)");
}

export const labelName = (label, plain) => (label === null || (label === "O" && !plain) ? "No entity" : visible(label, 60));

/** Words of a range of an item, as text that is not too long. */
export function wordsOf(item, { start, end }) {
  const lo = Math.max(start - item.from, 0);
  const hi = Math.min(end - item.from, item.tokens.length);
  let text = "";
  for (let i = lo; i < hi; i += 1) text += item.tokens[i] + (item.spaces[i] ? " " : "");
  return visible(text.trim(), 60);
}

/** Why the item is here, and where it stands. */
export function showWhy(item, corpus, why, where) {
  const parts = [];
  if (item.score !== null) parts.push(make("span", { class: "chance" }, `${percent(item.score)} likely wrong`), " · ");
  parts.push(visible(item.reason || "not sure", 200));
  if (item.flagged) parts.push(" · ", make("span", { class: "flagged" }, `flagged by ${visible(item.flagged.by, 80)}${item.flagged.note ? `: ${visible(item.flagged.note, 500)}` : ""}`));
  if (item.state === "checked") parts.push(" · decided before");
  why.replaceChildren(...parts);
  const number = `sentence ${(item.sentence + 1).toLocaleString()} of ${corpus.sentences.toLocaleString()}`;
  const named = item.document && item.document !== String(item.sentence + 1);
  where.textContent = named ? `${visible(item.document, 60)} · ${number}` : number;
}

export class LabelPanel {
  constructor(node, corpus, keys, colourOf) {
    this.node = node;
    this.buttons = new Map();
    const many = corpus.labels.length > MANY;
    node.classList.toggle("many", many);
    const labels = corpus.spans ? [...corpus.labels, null] : corpus.labels;
    for (const label of labels) this.buttons.set(label, this.button(label, label === null ? ["0"] : keys.get(label), colourOf, corpus));
    this.find = make("input", { type: "search", placeholder: "Find a label", "aria-label": "Find a label", autocomplete: "off" });
    this.find.addEventListener("input", () => this.narrow());
    const found = make("div", { class: "find" }, this.find, make("kbd", {}, "."));
    node.replaceChildren(...(many ? [found] : []), ...this.buttons.values());
  }

  button(label, keys, colourOf, corpus) {
    const shown = keys.map((key) => make("kbd", {}, key.toUpperCase()));
    const name = make("span", { class: "name" }, labelName(label, !corpus.spans));
    const node = make("button", { type: "button", class: "label", "data-do": "label", "aria-pressed": "false", "--c": label === null ? "var(--muted)" : colourOf(label) },
      make("span", { class: "keys", "aria-hidden": "true" }, ...shown), name, make("span", { class: "share" }));
    node.title = label ?? "";
    if (label !== null) node.dataset.label = label;
    if (keys.length) node.setAttribute("aria-keyshortcuts", keys.join(" "));
    return node;
  }

  /** Probabilities of an item; none while another range is in hand. */
  shares(probabilities) {
    const shares = new Map(probabilities.map(({ label, p }) => [label, p]));
    for (const [label, node] of this.buttons) {
      const p = shares.get(label ?? "O") ?? 0;
      node.style.setProperty("--p", `${100 * p}%`);
      node.querySelector(".share").textContent = p >= 0.005 ? percent(p) : "";
      node.classList.toggle("faint", shares.size > 0 && p < 0.01);
    }
  }

  clear() {
    if (this.find.value) this.find.value = "", this.narrow();
  }

  press(chosen) {
    for (const [label, node] of this.buttons) node.setAttribute("aria-pressed", String(label === chosen));
  }

  /** Show the labels that have the letters typed; the first one is chosen by Enter. */
  narrow() {
    const typed = this.find.value.toLowerCase();
    for (const [label, node] of this.buttons) node.hidden = !labelName(label).toLowerCase().includes(typed);
  }

  get first() {
    return [...this.buttons].find(([, node]) => !node.hidden);
  }
}

const key = (spans) => spans.map(({ start, end, label }) => `${start} ${end} ${label}`).join("\n");

/** What was said of the range: one entry per opinion, the weightiest first. */
export function opinions(item) {
  const weights = new Map();
  for (const vote of item.votes) {
    if ((vote.abstains && !vote.spans.length) || vote.tags?.every((tag) => tag === null)) continue;
    const entry = weights.get(key(vote.spans)) ?? { spans: vote.spans, weight: 0 };
    entry.weight += vote.reliability ?? 0.5;
    weights.set(key(vote.spans), entry);
  }
  return [...weights.values()].sort((a, b) => b.weight - a.weight).map(({ spans }) => spans);
}

function saidBy(vote, item, colourOf) {
  if (!vote.spans.length) return [visible(vote.said === "O" ? "no entity" : vote.said, 80)];
  return vote.spans.flatMap((span, i) => [i ? ", " : "", make("b", { "--c": colourOf(span.label) }, visible(span.label, 40)),
    span.start === item.start && span.end === item.end ? "" : ` ${wordsOf(item, span)}`]);
}

/** The votes of annotators, the most reliable first; a press takes one over. */
export function showVotes(node, item, colourOf) {
  const rows = item.votes.slice().sort((a, b) => (b.reliability ?? 0) - (a.reliability ?? 0)).map((vote) => {
    const worth = vote.reliability === null ? "" : `${Math.round(100 * vote.reliability)}%`;
    const row = make("button", { type: "button", class: vote.agrees ? "vote same" : "vote", "data-do": "adopt" },
      make("span", { class: "who" }, visible(vote.annotator, 60)),
      make("span", { class: "said" }, ...saidBy(vote, item, colourOf)),
      make("span", { class: worth ? "worth known" : "worth", "--p": worth, title: "reliability" }, worth));
    row.dataset.spans = JSON.stringify(vote.spans);
    row.title = "Take this over";
    return row;
  });
  if (item.votes.length && item.differs) {
    const said = item.majority.length ? saidBy({ spans: item.majority }, item, colourOf) : ["no entity"];
    rows.unshift(make("p", { class: "remark majority" }, "The majority says ", ...said, "."));
  }
  if (item.candidates) rows.push(...item.candidates.map((set, i) => make("p", {}, `${wordsOf(item, { start: item.start + i, end: item.start + i + 1 })}: ${set.map((one) => visible(one, 40)).join(", ")}`)));
  if (!rows.length) rows.push(make("p", { class: "remark" }, "Nobody has voted here."));
  node.replaceChildren(...rows);
}
