// The review page: what keys and buttons do.

import { get, post, release } from "./api.js";
import { Desk } from "./desk.js";
import { $, ask, fillExports, fillFilters, fillHelp, fillList } from "./dialogs.js";
import { Draft } from "./draft.js";
import { assign, meaning } from "./keys.js";
import { colours, labelName, opinions, wordsOf } from "./panels.js";
import { Screen } from "./screen.js";

const WATCH = 3000; // milliseconds between looks at a fit that runs
const IDLE = 30_000; // and between others

const remembered = (name) => localStorage.getItem(`tagsift-${name}`) ?? "";
const remember = (name, value) => localStorage.setItem(`tagsift-${name}`, value);

class Review {
  constructor(corpus, reviewer) {
    const keys = assign(corpus.labels);
    this.byKey = new Map([...keys].flatMap(([label, own]) => own.map((key) => [key, label])));
    this.corpus = corpus;
    this.plain = !corpus.spans;
    this.screen = new Screen(corpus, keys, colours(corpus.labels), {
      point: (token, wide) => this.point(token, wide),
      select: (start, end) => this.edit((draft) => draft.select(start, end)),
    });
    this.chosen = {};
    this.desk = new Desk(reviewer, {
      item: (item) => this.show(item),
      rest: (left) => this.screen.rest(left, this.narrowed),
      wait: () => this.screen.state("loading"),
      progress: (progress) => this.progress(progress),
      notice: (text) => this.screen.notice(text),
      refused: (error) => this.screen.refused(error),
      offline: (waiting, error) => this.screen.offline(waiting, error),
    });
    fillHelp(corpus);
    this.learn(corpus);
    this.screen.name(reviewer);
    this.listen();
  }

  /** What the corpus says of itself, again after a fit. */
  learn(corpus) {
    this.corpus = corpus;
    fillExports(corpus);
    fillFilters(corpus, this.chosen, (chosen) => this.filter(chosen));
  }

  listen() {
    document.addEventListener("keydown", (event) => this.press(event));
    document.addEventListener("click", (event) => {
      const button = event.target.closest("[data-do]");
      if (!button) return;
      this.act(button.dataset.do, button.dataset);
      if (event.detail > 0 && !button.closest("dialog, .filters")) button.blur();
    });
    $("search").addEventListener("submit", (event) => {
      event.preventDefault();
      $("query").blur();
    });
    $("query").addEventListener("change", () => this.filter(this.chosen));
    $("at-once").checked = remembered("at-once") === "yes";
    $("at-once").addEventListener("change", ({ target }) => {
      remember("at-once", target.checked ? "yes" : "no");
    });
    $("logout")?.addEventListener("submit", (event) => this.logOut(event));
    addEventListener("beforeunload", (event) => this.desk.unsent && event.preventDefault());
    addEventListener("pagehide", () => release(this.desk.reviewer));
  }

  // Keys and buttons

  press(event) {
    const { target, key } = event;
    if (document.querySelector("dialog[open]")) return;
    if (target === this.screen.labels.find) return this.pressFind(event);
    const seen = target.checkVisibility(); // a dialog that has just closed keeps the focus a while
    if (seen && target.matches("input, select")) {
      if (key === "Escape") this.leave(target);
      return;
    }
    const asked = meaning(event, this.byKey);
    const native = seen && target.matches("button, a") && ["Enter", " "].includes(key);
    if (!asked || native) return;
    event.preventDefault();
    if (!event.repeat || asked.name === "stretch") this.act(asked.name, asked);
  }

  /** Leave a field; what was typed and not searched for goes. */
  leave(field) {
    if (field === $("query")) field.value = this.desk.filters.q ?? "";
    field.blur();
  }

  pressFind(event) {
    const { find, first } = this.screen.labels;
    const chosen = event.key === "Enter" && first;
    if (!chosen && event.key !== "Escape") return;
    event.preventDefault();
    this.screen.labels.clear();
    find.blur();
    if (chosen) this.relabel(chosen[0]);
  }

  /** Do what a key or a button asks for; some things need an item on the desk. */
  act(name, { label = null, first, last, spans } = {}) {
    const always = {
      help: () => ask("help"), exports: () => ask("exports"), name: () => this.rename(),
      theme: () => this.theme(), search: () => $("query").select(), list: () => this.list(),
      filters: () => this.screen.toggleFilters(), clear: () => this.choose({}),
      skipped: () => this.choose({ state: "skipped" }),
      find: () => this.screen.labels.find.focus(),
      refit: () => this.refit(), undo: () => this.undo(),
    };
    const onItem = {
      accept: () => this.store(), skip: () => this.store("skip"), flag: () => this.flag(),
      label: () => this.relabel(label), none: () => this.relabel(null),
      stretch: () => this.stretch(Number(first), Number(last)), opinion: () => this.opinion(),
      before: () => this.edit((draft) => draft.holdNext(-1)),
      after: () => this.edit((draft) => draft.holdNext(1)),
      reset: () => this.edit((draft) => draft.reset()),
      adopt: () => this.edit((draft) => draft.adopt(JSON.parse(spans))),
    };
    if (always[name]) always[name]();
    else if (this.desk.item) onItem[name]?.();
  }

  /** Give leases back, then log out; what is not sent yet is asked about first. */
  async logOut(event) {
    event.preventDefault();
    const { reviewer } = this.desk;
    await post("api/release", { reviewer }).catch(() => {});
    event.target.submit();
  }

  // The draft

  show(item) {
    this.draft = new Draft(item, this.plain);
    this.said = -1;
    this.screen.open(item, this.draft);
  }

  edit(change) {
    change(this.draft);
    this.screen.showDraft();
    const { range } = this.draft;
    this.screen.say(`${wordsOf(this.desk.item, range)}: ${labelName(range.label)}`);
  }

  stretch(first, last) {
    const turned = this.screen.fromRight ? -1 : 1;
    this.edit((draft) => draft.stretch(turned * first, turned * last));
  }

  point(token, wide) {
    const { start, end } = this.draft.range;
    if (wide) this.edit((draft) => draft.select(Math.min(start, token), Math.max(end, token + 1)));
    else this.edit((draft) => draft.holdAt(token));
  }

  relabel(label) {
    if (label === null && !this.corpus.outside) return;
    const again = this.draft.range.label === label;
    if (!again) this.edit((draft) => draft.relabel(label));
    if (again || $("at-once").checked) this.store();
  }

  opinion() {
    const said = opinions(this.desk.item);
    if (!said.length) return;
    this.said = (this.said + 1) % said.length;
    this.edit((draft) => draft.adopt(said[this.said]));
  }

  // Decisions

  store(action, note) {
    const { draft } = this;
    const whole = draft.decision;
    const decision = action ? { action, ...(note ? { note } : {}) } : whole;
    const entry = this.screen.remember(this.desk.item, draft, action ?? whole.action);
    this.desk.decide(decision, draft.spans).then((answer) => this.screen.settle(entry, answer));
  }

  async flag() {
    $("note").value = "";
    if (await ask("flag")) this.store("flag", $("note").value.trim());
  }

  async undo() {
    const answer = await this.desk.undo();
    if (answer) this.screen.takeBack(answer.undone);
  }

  async refit() {
    const { reviewer } = this.desk;
    await post("api/refit", { reviewer }).catch((error) => this.screen.refused(error));
    await this.watch();
  }

  async watch() {
    const hidden = document.visibilityState !== "visible";
    const told = hidden ? null : await get("api/progress").catch(() => null);
    if (told) this.progress(told);
    else this.watchLater();
    if (told && !this.desk.item && !this.desk.unsent) this.desk.fill();
  }

  /** Ask for the progress in a while, sooner while the model learns. */
  watchLater() {
    const busy = this.told?.refitting || this.told?.revision === 0;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.watch(), busy ? WATCH : IDLE);
  }

  async progress(progress) {
    const learnt = this.told && progress.revision > this.told.revision;
    this.told = progress;
    this.watchLater();
    this.screen.progress(progress, this.desk.reviewer);
    if (!learnt) return;
    this.screen.notice("The model has learnt; the items that follow are in a new order.");
    await get("api/corpus").then((corpus) => this.learn(corpus), () => {});
    await this.desk.renew();
    const { item } = this.desk;
    if (item?.revision === 0 && !this.draft.changed) this.desk.open(item.id, true);
  }

  // Which items, who, and how it looks

  get narrowed() {
    return Object.keys(this.desk.filters).length > 0;
  }

  filter(chosen) {
    this.chosen = chosen;
    const q = $("query").value.trim();
    const filters = q ? { ...chosen, q } : chosen;
    if (JSON.stringify(filters) === JSON.stringify(this.desk.filters)) return;
    this.screen.filtered(Object.keys(chosen).length);
    this.desk.change(filters);
  }

  /** Set all filters, and search for nothing. */
  choose(chosen) {
    $("query").value = "";
    this.filter(chosen);
    this.learn(this.corpus);
  }

  list() {
    const { reviewer, filters } = this.desk;
    $("rows").replaceChildren();
    ask("list");
    fillList(reviewer, filters, 0, (id) => this.desk.open(id))
      .catch((error) => this.screen.refused(error));
  }

  async rename() {
    const name = await askName(this.desk.reviewer);
    if (name === this.desk.reviewer) return;
    this.screen.name(name);
    this.desk.change(this.desk.filters, name);
  }

  theme() {
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const now = document.documentElement.dataset.theme ?? (dark ? "dark" : "light");
    setTheme(now === "dark" ? "light" : "dark");
  }
}

function setTheme(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
  remember("theme", theme);
}

/** The name of who sits here; asked for until there is one. */
async function askName(known) {
  $("reviewer").value = known;
  await ask("name");
  const name = $("reviewer").value.trim() || known;
  if (!name) return askName(known);
  remember("name", name);
  return name;
}

async function begin() {
  try {
    setTheme(remembered("theme"));
    const known = remembered("name");
    const [corpus, name] = await Promise.all([get("api/corpus"), known || askName("")]);
    const review = new Review(corpus, name);
    await Promise.all([review.desk.start(), review.watch()]);
  } catch (error) {
    Screen.closed(error);
  }
}

begin();
