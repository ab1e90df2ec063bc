// Which key does what. Labels have a digit (the first nine) and a letter of their name.

/** Letters that are commands, so that no label has them. */
export const COMMANDS = { s: "skip", f: "flag", u: "undo", v: "opinion" };

/** Keys that are no letters, and letters with Shift. */
const OTHERS = {
  Enter: "accept", " ": "accept", Escape: "reset", Backspace: "none", Delete: "none", 0: "none",
  "?": "help", "/": "search", ".": "find", ArrowUp: "before", ArrowDown: "after",
  B: "list", D: "theme", E: "exports", L: "filters", N: "name", R: "refit",
};

/** A digit and a letter for every label, where there is one left: label -> [keys]. */
export function assign(labels) {
  const free = new Set("abcdefghijklmnopqrstuvwxyz");
  Object.keys(COMMANDS).forEach((letter) => free.delete(letter));
  const letters = new Map();
  const give = (label, wanted) => {
    const letter = wanted.find((one) => free.has(one));
    if (letter === undefined || letters.has(label)) return;
    letters.set(label, letter);
    free.delete(letter);
  };
  const spelt = (label) => [...label.toLowerCase()];
  const needy = labels.length > free.size ? labels.slice(9) : labels;
  needy.forEach((label) => give(label, spelt(label).slice(0, 1)));
  needy.forEach((label) => give(label, spelt(label)));
  needy.forEach((label) => give(label, [...free]));
  return new Map(labels.map((label, place) => {
    const digit = place < 9 ? [String(place + 1)] : [];
    return [label, letters.has(label) ? [...digit, letters.get(label)] : digit];
  }));
}

/** The sign of a key: a Latin letter whatever the script of the keyboard, large with Shift. */
function sign({ key, code, shiftKey }) {
  const letter = /^[a-z]$/i.test(key) ? key : /^Key([A-Z])$/.exec(code)?.[1];
  if (letter === undefined) return key;
  return shiftKey ? letter.toUpperCase() : letter.toLowerCase(); // whatever Caps Lock says
}

/** What a key press asks for: {name, label or step}, or null. `byKey` maps keys to labels. */
export function meaning(event, byKey) {
  const key = sign(event);
  const other = event.ctrlKey || event.metaKey;
  if (other && key.toLowerCase() === "z" && !event.shiftKey) return { name: "undo" };
  if (key === "ArrowLeft" || key === "ArrowRight") {
    const step = key === "ArrowRight" ? 1 : -1;
    if (event.shiftKey) return { name: "stretch", first: 0, last: step };
    if (event.altKey || event.ctrlKey) return { name: "stretch", first: step, last: 0 };
    return event.metaKey ? null : { name: "stretch", first: step, last: step };
  }
  if (other || event.altKey) return null;
  if (byKey.has(key)) return { name: "label", label: byKey.get(key) };
  const name = COMMANDS[key] ?? OTHERS[key];
  return name === undefined ? null : { name };
}
