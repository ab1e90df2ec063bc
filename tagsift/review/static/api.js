// Talking with the server. Decisions wait in a box until they have been taken in: they
// are sent in order, one at a time, and again after a failure; each has a key by which the
// server knows it, so that nothing is stored twice.

const BOX = "tagsift-unsent-";
const AGAIN = 2000; // milliseconds between tries

/** An answer that is no success; `code` is the server's word for it, `answer` all of it. */
export class Refusal extends Error {
  constructor(status, answer) {
    super(answer.message ?? `The server answered with status ${status}.`);
    this.status = status;
    this.code = answer.error ?? "fault";
    this.answer = answer;
  }
}

/** A random key for one request. */
export const newKey = () => {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
};

/** Parameters of an address; lists are joined by commas, empty ones left out. */
export function parameters(values) {
  const told = ([, value]) => value !== undefined && value.length !== 0;
  const pairs = Object.entries(values).filter(told);
  return new URLSearchParams(pairs.map(([name, value]) => [name, String(value)])).toString();
}

async function call(path, options) {
  const response = await fetch(path, { credentials: "same-origin", cache: "no-store", ...options });
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new Refusal(response.status, answer);
  return answer;
}

export const get = (path, values = {}) => {
  const query = parameters(values);
  return call(query ? `${path}?${query}` : path, {});
};

export const post = (path, body) => {
  const headers = { "Content-Type": "application/json" };
  return call(path, { method: "POST", headers, body: JSON.stringify(body) });
};

/** Give leases back while the page goes away. */
export function release(reviewer) {
  const body = new Blob([JSON.stringify({ reviewer })], { type: "application/json" });
  navigator.sendBeacon("api/release", body);
}

const pause = (time) => new Promise((done) => setTimeout(done, time));

export class Outbox {
  /** `onState` is told how many requests wait, and whether the server cannot be reached. */
  constructor(onState) {
    this.onState = onState;
    this.name = BOX + newKey();
    this.waiting = [];
    this.busy = false;
  }

  /** Take what earlier pages could not send; a page that is still open may send it too. */
  leftOver() {
    const boxes = Object.keys(localStorage).filter((name) => name.startsWith(BOX));
    return boxes.flatMap((name) => {
      const kept = JSON.parse(localStorage.getItem(name));
      localStorage.removeItem(name);
      return kept;
    });
  }

  keep() {
    const kept = this.waiting.map(({ path, body }) => ({ path, body }));
    if (kept.length) localStorage.setItem(this.name, JSON.stringify(kept));
    else localStorage.removeItem(this.name);
  }

  /** Send in turn; `prepare` completes the body just before. Resolves to the answer. */
  send(path, body, prepare = (whole) => whole) {
    return new Promise((resolve, reject) => {
      this.waiting.push({ path, body, prepare, resolve, reject });
      this.keep();
      if (!this.busy) this.run();
    });
  }

  async run() {
    this.busy = true;
    while (this.waiting.length) {
      const { path, body, prepare, resolve, reject } = this.waiting[0];
      try {
        const answer = await post(path, prepare(body));
        this.waiting.shift();
        resolve(answer);
        await pause(0); // what the answer says is known before the next one is prepared
      } catch (error) {
        const refused = error instanceof Refusal && error.status < 500 && error.status !== 401;
        if (!refused) {
          this.onState(this.waiting.length, error);
          await pause(AGAIN);
          continue;
        }
        this.waiting.shift();
        reject(error);
      }
      this.keep();
      this.onState(this.waiting.length, null);
    }
    this.busy = false;
  }
}
