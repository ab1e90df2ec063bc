// The items at hand: the one on the desk, and a few fetched ahead so that the next one is
// there without waiting.

import { get, newKey, Outbox, post, Refusal } from "./api.js";
import { meets } from "./draft.js";

const AHEAD = 3; // items fetched ahead
const DONE = 30; // items that do not come again at once where decided ones are looked at
const RENEW = 240_000; // milliseconds after which leases are asked for anew

export class Desk {
  /** `tell` is told of a new item, of rest, waiting, progress, notices and refusals. */
  constructor(reviewer, tell) {
    this.reviewer = reviewer;
    this.tell = tell;
    this.filters = {};
    this.item = null;
    this.ahead = [];
    this.done = [];
    this.versions = new Map(); // of sentences, after one's own decisions
    this.outbox = new Outbox((waiting, error) => tell.offline(waiting, error));
    setInterval(() => document.visibilityState === "visible" && this.fill(), RENEW);
  }

  get unsent() {
    return this.outbox.waiting.length;
  }

  /** Names of the items at hand, and of those whose decisions are on their way. */
  get have() {
    const here = [this.item, ...this.ahead].map((item) => item?.id);
    const sent = this.outbox.waiting.map(({ body }) => body.item);
    return [...here, ...sent, ...(this.filters.state ? this.done : [])].filter(Boolean);
  }

  get count() {
    return Math.max(AHEAD + (this.item ? 0 : 1) - this.ahead.length, 1);
  }

  /** Send what an earlier page left behind, then take the first item. */
  async start() {
    const left = this.outbox.leftOver().map(({ path, body }) =>
      (body.item ? this.deliver(body) : this.outbox.send(path, body)));
    await Promise.allSettled(left);
    await this.fill();
  }

  /** Ask the server for items, and lay one on the desk if there is none. */
  async fill() {
    const { reviewer, have, count, filters } = this;
    try {
      this.take(await get("api/items", { reviewer, have, count, ...filters }), filters);
    } catch (error) {
      this.tell.refused(error);
    }
  }

  take(answer, filters = this.filters) {
    if (filters === this.filters) {
      const known = new Set(this.have);
      const fresh = ({ id, sentence, version }) =>
        !known.has(id) && version >= (this.versions.get(sentence) ?? 0);
      this.ahead.push(...(answer.items ?? []).filter(fresh));
    }
    this.left = answer.left ?? this.left;
    if (answer.progress) this.tell.progress(answer.progress);
    if (!this.item) this.next();
  }

  next() {
    this.item = this.ahead.shift() ?? null;
    if (this.item) this.tell.item(this.item);
    else if (!this.unsent) this.tell.rest(this.left);
    else this.tell.wait();
  }

  /** Store what was decided on the item, and go on with the next one at once. */
  decide(decision, spans) {
    const item = this.item;
    const { id, sentence, version } = item;
    const { reviewer } = this;
    const body = { reviewer, key: newKey(), item: id, sentence, version, ...decision };
    if (decision.spans) this.carry(item, decision, spans);
    this.item = null;
    this.done = [id, ...this.done].slice(0, DONE);
    const stored = this.deliver(body);
    this.next();
    return stored.then(
      (answer) => {
        this.take(answer);
        return answer;
      },
      (error) => this.lost(error),
    );
  }

  /** Send a decision in its turn, with the version that its sentence has by then. */
  async deliver(body) {
    const { sentence } = body;
    const answer = await this.outbox.send("api/decisions", body, (whole) => ({
      ...whole,
      version: Math.max(whole.version, this.versions.get(sentence) ?? 0),
      have: this.have, count: this.count, filters: this.filters,
    }));
    this.versions.set(sentence, answer.version);
    return answer;
  }

  /** What was decided holds for the other items of the sentence, too. */
  carry(item, region, spans) {
    const apart = (other) => other.sentence !== item.sentence || !meets(other, region);
    this.ahead = this.ahead.filter(apart);
    const { start, end } = region;
    for (const other of this.ahead) {
      if (other.sentence !== item.sentence) continue;
      Object.assign(other, { spans, checked: [...other.checked, [start, end]] });
    }
  }

  lost(error) {
    if (!(error instanceof Refusal)) throw error;
    this.tell.notice(error.message);
    if (error.answer.items) this.take(error.answer);
    else this.fill();
    return null;
  }

  /** Take back one's last decision; its item comes back to the desk. */
  async undo() {
    try {
      const { reviewer } = this;
      const answer = await this.outbox.send("api/undo", { reviewer, key: newKey() });
      const { item } = answer;
      this.versions.set(item.sentence, item.version);
      const others = [this.item, ...this.ahead].filter((other) => other && other.id !== item.id);
      for (const other of others) if (other.sentence === item.sentence) other.spans = item.spans;
      this.ahead = others;
      this.item = item;
      this.tell.item(item);
      this.tell.progress(answer.progress);
      return answer;
    } catch (error) {
      return this.lost(error);
    }
  }

  /** Fetch the items ahead once more, in the order of a new fit. */
  async renew() {
    this.ahead = [];
    await this.fill();
  }

  /** Lay a certain item on the desk; one that lies there already is only told anew. */
  async open(id, anew = false) {
    if (id === this.item?.id && !anew) return;
    try {
      const { reviewer } = this;
      const { item } = await get(`api/item/${encodeURIComponent(id)}`, { reviewer });
      if (anew && this.item?.id !== id) return;
      this.ahead = [this.item, ...this.ahead].filter((other) => other && other.id !== item.id);
      this.item = item;
      this.tell.item(item);
    } catch (error) {
      this.tell.refused(error);
    }
  }

  /** Go on with other items, or as somebody else; what was fetched goes back. */
  async change(filters, reviewer = this.reviewer) {
    const { reviewer: former } = this;
    Object.assign(this, { filters, reviewer, item: null, ahead: [], done: [] });
    this.tell.wait();
    await post("api/release", { reviewer: former }).catch(() => {});
    await this.fill();
  }
}
