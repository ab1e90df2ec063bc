// What is on the screen, and what is said to those who listen.

import { meets } from "./draft.js";
import { LabelPanel, labelName, showVotes, showWhy, wordsOf } from "./panels.js";
import { showLearning, showProgress } from "./progress.js";
import { SentenceView } from "./sentence.js";
import { make, visible } from "./visible.js";

const $ = (id) => document.getElementById(id);
const KEPT = 6; // decisions that are shown
const SHORT = 7000; // milliseconds that a notice stays
const REST = {
  leased: ["Others are at work on the rest",
    "What is left is in the hands of other reviewers; it comes back if they leave it."],
  nothing: ["Nothing matches", "No item has these words and filters."],
  done: ["Everything has been looked at",
    "No item is open. Export the checked corpus, or look again at what was skipped."],
};

const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

export class Screen {
  constructor(corpus, keys, colourOf, actions) {
    this.corpus = corpus;
    this.plain = !corpus.spans;
    this.colourOf = colourOf;
    this.labels = new LabelPanel($("labels"), corpus, keys, colourOf);
    this.sentence = new SentenceView($("sentence"), colourOf, this.plain, actions);
    this.trail = [];
    $("bounds").hidden = this.plain;
  }

  get fromRight() {
    return $("sentence").dir === "rtl";
  }

  /** loading, item, or rest. */
  state(name) {
    document.body.dataset.state = name;
    $("item").hidden = name === "rest";
    $("votes-panel").hidden = name === "rest";
    $("rest").hidden = name !== "rest";
  }

  /** Show an item. */
  open(item, draft) {
    this.item = item;
    this.draft = draft;
    this.state("item");
    $("item").dataset.item = item.id;
    showWhy(item, this.corpus, $("why"), $("where"));
    $("before").textContent = visible(item.before ?? "", 600);
    $("after").textContent = visible(item.after ?? "", 600);
    this.labels.clear();
    $("votes-title").textContent = item.candidates ? "What it may be" : "Who said what";
    showVotes($("votes"), item, this.colourOf);
    this.sentence.open(item, draft);
    this.showDraft();
    this.say(`${wordsOf(item, item)}: ${labelName(item.label)}, ${$("why").textContent}.`);
  }

  /** Show the draft as it is now. */
  showDraft() {
    this.sentence.show();
    this.labels.shares(meets(this.draft.range, this.draft.asked) ? this.item.probabilities : []);
    this.labels.press(this.draft.range.label);
    $("accept").textContent = this.draft.changed ? "Store the change" : "Accept";
  }

  say(text) {
    $("live").textContent = text;
  }

  notice(text, stays = false) {
    const node = make("p", { class: "notice" }, visible(capital(text), 500));
    $("notices").append(node);
    if (!stays) setTimeout(() => node.remove(), SHORT);
    return node;
  }

  refused(error) {
    if (error.status === 401) Screen.closed(error);
    else this.notice(error.status ? error.message : "The server does not answer.");
  }

  /** Decisions that could not be sent yet stay here and are sent again. */
  offline(waiting, error) {
    this.lost?.remove();
    this.lost = null;
    if (!error) return;
    const many = waiting === 1 ? "one decision waits" : `${waiting} decisions wait`;
    const why = error.code === "password" ? "Log in again, in another tab"
      : error.status === 401 ? "Open the address that the server has printed"
        : "The server does not answer";
    this.lost = this.notice(`${why}: ${many} here, and will be sent again.`, true);
  }

  /** Nothing to look at. */
  rest(left, narrowed) {
    this.state("rest");
    const [title, text] = left > 0 ? REST.leased : narrowed ? REST.nothing : REST.done;
    const button = (name, does, main) =>
      make("button", { type: "button", class: main ? "main" : null, "data-do": does }, name);
    const buttons = narrowed ? [button("Clear search and filters", "clear", true)]
      : [button("Export", "exports", true), " ", button("What I skipped", "skipped", false)];
    $("rest").replaceChildren(make("h2", {}, title), make("p", {}, text), ...buttons);
  }

  /** There is no way on without the right address, or the password. */
  static closed(error) {
    document.body.dataset.state = "rest";
    $("item").hidden = $("votes-panel").hidden = true;
    $("rest").hidden = false;
    const door = error.code === "password" ? make("p", {}, make("a", { href: "./" }, "Log in")) : null;
    const text = make("p", {}, capital(error.message));
    $("rest").replaceChildren(...[make("h2", {}, "This page is closed"), text, door].filter(Boolean));
  }

  // The bar and the panels

  name(reviewer) {
    $("who").textContent = visible(reviewer, 20);
  }

  toggleFilters() {
    const form = $("filters");
    form.hidden = !form.hidden;
    const button = document.querySelector("[aria-controls=filters]");
    button.setAttribute("aria-expanded", String(!form.hidden));
    if (!form.hidden) form.querySelector("select").focus();
  }

  filtered(count) {
    $("filtered").hidden = count === 0;
    $("filtered").textContent = count;
  }

  progress(progress, reviewer) {
    showProgress($("progress"), progress, reviewer);
    showLearning($("learning"), $("refit"), progress, this.corpus.every);
  }

  /** Remember a decision in the trail, before the server has it. */
  remember(item, draft, action) {
    const name = (label) => labelName(label);
    const now = draft.range.label;
    const kinds = {
      accept: `${name(now)} ✓`, relabel: `${name(item.label)} → ${name(now)}`, none: name(null),
      bounds: `${name(now)}, new bounds`, skip: "skipped", flag: "flagged",
    };
    const entry = { text: wordsOf(item, draft.range), kind: kinds[action], taken: false };
    this.trail = [entry, ...this.trail].slice(0, KEPT);
    this.showTrail();
    return entry;
  }

  settle(entry, answer) {
    entry.decision = answer?.decision;
    entry.taken ||= !answer;
    this.showTrail();
  }

  takeBack(decision) {
    for (const entry of this.trail) if (entry.decision === decision) entry.taken = true;
    this.showTrail();
    this.say(`Taken back. ${$("live").textContent}`);
  }

  showTrail() {
    const part = (name, text) => make("span", { class: name }, text);
    const rows = this.trail.map(({ text, kind, taken }) =>
      make("li", { class: taken ? "taken" : null }, part("text", text), part("kind", kind)));
    $("trail").replaceChildren(...rows);
    $("trail-panel").hidden = !rows.length;
  }
}
