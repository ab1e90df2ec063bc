// What is shown of an item beside its sentence: why it is here, labels, votes.

import { make, visible } from "./visible.js";

const HUES = [1, 0, 2, 5, 9, 11, 7, 10, 8, 6, 12, 13]; // of the palette, those that differ most
export const MANY = 12; // labels that have room for their bars

export function percent(share) {
  return share > 0.995 && share < 1 ? ">\u202f99\u202f%" : `${Math.round(100 * share)}\u202f%`;
}

/** The colour of every label. */
export function colours(labels) {
  const places = new Map(labels.map((label, i) => [label, HUES[i % HUES.length]]));
  return (label) => (places.has(label) ? `var(--s${places.get(label)})` : "var(--muted)");
}

/** The name of a label; none, and the label of tokens outside spans, are no entity. */
export function labelName(label) {
  return label === null || label === "O" ? "No entity" : visible(label, 60);
}

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
  if (item.score !== null) {
    parts.push(make("span", { class: "chance" }, `${percent(item.score)} likely wrong`), " · ");
  }
  parts.push(visible(item.reason || "not sure", 200));
  if (item.flagged) {
    const { by, note } = item.flagged;
    parts.push(` · flagged by ${visible(by, 80)}`, note ? `: ${visible(note, 500)}` : "");
  }
  if (item.state === "checked") parts.push(" · decided before");
  why.replaceChildren(...parts);
  const [place, all] = [item.sentence + 1, corpus.sentences].map((one) => one.toLocaleString());
  const number = `sentence ${place} of ${all}`;
  const named = item.document && item.document !== String(item.sentence + 1);
  where.textContent = named ? `${visible(item.document, 60)} · ${number}` : number;
}

export class LabelPanel {
  constructor(node, corpus, keys, colourOf) {
    this.node = node;
    this.buttons = new Map();
    const many = corpus.labels.length > MANY;
    node.classList.toggle("many", many);
    const labels = corpus.outside ? [...corpus.labels, null] : corpus.labels;
    for (const label of labels) {
      const own = label === null ? ["0"] : keys.get(label);
      this.buttons.set(label, this.button(label, own, colourOf(label)));
    }
    const words = "Find a label";
    this.find = make("input", {
      type: "search", placeholder: words, "aria-label": words, autocomplete: "off",
    });
    this.find.addEventListener("input", () => this.narrow());
    const found = make("div", { class: "find" }, this.find, make("kbd", {}, "."));
    node.replaceChildren(...(many ? [found] : []), ...this.buttons.values());
  }

  button(label, keys, colour) {
    const shown = keys.map((key) => make("kbd", {}, key.toUpperCase()));
    return make("button", {
      type: "button", class: "label", title: labelName(label), "--c": colour,
      "data-do": "label", "data-label": label, "aria-keyshortcuts": keys.join(" ") || null,
    },
    make("span", { class: "keys", "aria-hidden": "true" }, ...shown),
    make("span", { class: "name" }, labelName(label)),
    make("span", { class: "share" }));
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
    for (const [label, node] of this.buttons) {
      node.setAttribute("aria-pressed", String(label === chosen));
    }
  }

  /** Show the labels that have the letters typed; the first one is chosen by Enter. */
  narrow() {
    const typed = this.find.value.toLowerCase();
    for (const [label, node] of this.buttons) {
      node.hidden = !labelName(label).toLowerCase().includes(typed);
    }
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
    if (vote.abstains && !vote.spans.length) continue;
    const entry = weights.get(key(vote.spans)) ?? { spans: vote.spans, weight: 0 };
    entry.weight += vote.reliability ?? 0.5;
    weights.set(key(vote.spans), entry);
  }
  return [...weights.values()].sort((a, b) => b.weight - a.weight).map(({ spans }) => spans);
}

/** Spans as labels in their colours, with the words where the bounds are others. */
function said(spans, item, colourOf) {
  if (!spans.length) return ["no entity"];
  return spans.flatMap((span, i) => {
    const label = make("b", { "--c": colourOf(span.label) }, visible(span.label, 40));
    const bounds = span.start === item.start && span.end === item.end;
    return [i ? ", " : "", label, bounds ? "" : ` ${wordsOf(item, span)}`];
  });
}

function voteRow(vote, item, colourOf) {
  const [worth, share] = vote.reliability === null ? ["", "0"]
    : [percent(vote.reliability), `${100 * vote.reliability}%`];
  const silent = vote.abstains && !vote.spans.length;
  return make("button", {
    type: "button", class: vote.agrees ? "vote same" : "vote", title: "Take this over",
    "data-do": "adopt", "data-spans": JSON.stringify(vote.spans),
  },
  make("span", { class: "who" }, visible(vote.annotator, 60)),
  make("span", { class: "said" }, ...(silent ? ["nothing"] : said(vote.spans, item, colourOf))),
  make("span", { class: worth && "worth", "--p": share, title: "reliability" }, worth));
}

/** The votes of annotators, the most reliable first, or the sets of candidates. */
export function showVotes(node, item, colourOf) {
  const line = (...parts) => make("p", { class: "remark" }, ...parts);
  const worth = (vote) => vote.reliability ?? 0;
  const votes = item.votes.slice().sort((a, b) => worth(b) - worth(a));
  const rows = votes.map((vote) => voteRow(vote, item, colourOf));
  if (rows.length && item.differs) {
    rows.unshift(line("The majority says ", ...said(item.majority, item, colourOf), "."));
  }
  for (const [i, set] of (item.candidates ?? []).entries()) {
    const word = wordsOf(item, { start: item.start + i, end: item.start + i + 1 });
    rows.push(line(`${word}: ${set.map((label) => visible(label, 40)).join(", ")}`));
  }
  node.replaceChildren(...(rows.length ? rows : [line("Nobody has voted here.")]));
}
