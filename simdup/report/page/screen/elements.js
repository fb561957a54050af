// Elements and text. Nothing from a file is ever taken for markup: strings become text nodes.

// Entries of a long list that are laid out before the reader asks for more.
const AT_ONCE = 200;

/** An element; attributes that begin with "on" are listeners, null and false leave one out. */
function make(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** The same within a picture. */
function draw(tag, attributes = {}, ...children) {
  const space = document.querySelector('svg').namespaceURI;
  return fill(document.createElementNS(space, tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? '' : value);
  }
  put(element, children);
  return element;
}

/** Put these children into an element, in place of what it has; null is no child. */
function replace(element, ...children) {
  element.replaceChildren();
  put(element, children);
}

function put(element, children) {
  element.append(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false && child !== ''));
}

/** Lay out the nodes of the first entries of a list, and a button of `buttonOf` that lays out the next. */
function layOut(place, list, nodesOf, buttonOf, count = AT_ONCE) {
  put(place, list.slice(0, count).map(nodesOf));
  const rest = list.slice(count);
  if (!rest.length) return;
  const line = buttonOf(rest.length, () => {
    line.remove();
    layOut(place, rest, nodesOf, buttonOf);
  });
  place.append(line);
}

/** A button; a key that presses it stands in it. `look` is "main", "remove", "quiet" or "link". */
function button(words, onclick, look = '', key = null, attributes = {}) {
  return make('button', { type: 'button', class: look || null, onclick, 'data-key': key, 'aria-keyshortcuts': key, ...attributes },
    words, key ? make('kbd', { 'aria-hidden': 'true' }, key) : null);
}

// Line drawings in a square of 18, by name.
const ICONS = {
  ...{ identical: 'M4 7h10M4 11h10', words: 'M3 6.5q3-3 6 0t6 0M3 11.5q3-3 6 0t6 0', near: 'M3 9q3-3.5 6 0t6 0' },
  ...{ related: 'M4 9h1M8.5 9h1M13 9h1', forms: 'M3 4h12M4.5 8h9v6h-9z', parts: 'M4 3h10v12H4zM4 7h10M4 11h10', folders: 'M2.5 5h5l1.5 1.5h6.5v8h-13z' },
  ...{ check: 'M4 9.5l3.5 3.5L14 5.5', minus: 'M5 9h8', next: 'M7 4l5 5-5 5', back: 'M11 4l-5 5 5 5', down: 'M4 7l5 5 5-5', up: 'M4 11l5-5 5 5' },
  ...{ auto: 'M9 3a6 6 0 1 0 0 12zM9 3a6 6 0 0 1 0 12', light: 'M9 3a6 6 0 1 0 0 12a6 6 0 0 0 0-12', dark: 'M9 3a6 6 0 1 0 0 12a6 6 0 0 0 0-12z', only: 'M9 6a3 3 0 1 0 0 6a3 3 0 0 0 0-6z' },
};

const icon = (name) => draw('svg', { class: `icon ${name}`, viewBox: '0 0 18 18', 'aria-hidden': 'true' }, draw('path', { d: ICONS[name] }));

/** The sign of a sort of file: identical, words, near, related, forms, parts, folders or only. */
const sign = (sort) => make('span', { class: `sign ${sort}` }, icon(sort));

/** A bar of parts, each a class and a number; what is missing to `whole` stays empty. */
function bar(parts, whole) {
  const shown = parts.filter(([, count]) => count > 0);
  const left = whole - shown.reduce((sum, [, count]) => sum + count, 0);
  return make('span', { class: 'bar', 'aria-hidden': 'true' }, [...shown, ['', left]].map(([name, count]) => {
    const part = make('span', { class: name || null });
    part.style.flexGrow = Math.max(0, count);
    return part;
  }));
}

/** A name whose middle is left out where there is no room: its last ten characters are always seen. */
function nameOf(name, words = []) {
  const places = placesOf(name, words);
  const cut = name.length > 30 ? name.length - 10 : name.length;
  return make('bdi', { class: 'name', title: name }, make('span', {}, lit(name.slice(0, cut), 0, places)),
    cut < name.length ? make('span', {}, lit(name.slice(cut), cut, places)) : null);
}

/** Elements of a list, of which one is reached by Tab: the one that is current, or else the first. */
function oneStop(elements) {
  const current = elements.find((element) => element.matches('[aria-current], [aria-checked=true]')) ?? elements[0];
  for (const element of elements) element.tabIndex = element === current ? 0 : -1;
  return elements;
}

/** These parts in one line, with dots between them. */
function dotted(parts) {
  return parts.filter(Boolean).flatMap((part, place) => (place ? [' · ', part] : [part]));
}

const byId = (id) => document.getElementById(id);

// Controls, and what has no width or turns the direction of text; but tab and newline, and
// the joiners that some scripts and emoji need.
const INVISIBLE = /(?![\t\n\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** A text as nodes, in which what cannot be seen stands as an escape. */
function visible(text) {
  const nodes = [];
  let end = 0;
  for (const match of text.matchAll(INVISIBLE)) {
    nodes.push(text.slice(end, match.index));
    nodes.push(make('span', { class: 'escape' }, escaped(match[0])));
    end = match.index + match[0].length;
  }
  nodes.push(text.slice(end));
  return nodes.filter((node) => node !== '');
}

function escaped(character) {
  const code = character.codePointAt(0);
  const [sign, digits] = code < 256 ? ['\\x', 2] : code < 65536 ? ['\\u', 4] : ['\\U', 8];
  return sign + code.toString(16).padStart(digits, '0');
}

/** A folder that a line may break after each slash. */
function breakable(folder, found) {
  let at = 0;
  return folder.split(/(?<=\/)/).flatMap((part) => {
    at += part.length;
    return [...lit(part, at - part.length, found), make('wbr')];
  });
}

/** Where a text has any of these words, in small letters: [from, to] of each, in order, none overlapping. */
function placesOf(text, words) {
  const small = text.toLowerCase();
  if (small.length !== text.length) return [];
  const found = [];
  for (const word of words) {
    for (let at = small.indexOf(word); at >= 0; at = small.indexOf(word, at + 1)) found.push([at, at + word.length]);
  }
  const places = [];
  for (const [from, to] of found.sort((a, b) => a[0] - b[0])) {
    const last = places.at(-1);
    if (last && from <= last[1]) last[1] = Math.max(last[1], to);
    else places.push([from, to]);
  }
  return places;
}

/** A piece of a text that begins at a place, as nodes in which the found places are marked. */
function lit(piece, begin, found) {
  const nodes = [];
  let end = 0;
  for (const place of found) {
    const [from, to] = place.map((each) => Math.min(Math.max(each - begin, 0), piece.length));
    if (from >= to) continue;
    nodes.push(piece.slice(end, from), make('mark', {}, piece.slice(from, to)));
    end = to;
  }
  return [...nodes, piece.slice(end)].filter((node) => node !== '');
}

/** A path, cut off from the direction of what surrounds it. */
const pathOf = (path, words = []) => make('bdi', { class: 'path' }, breakable(path, placesOf(path, words)));

/** A day of the reader's place in words of the present language. */
function dayOf(seconds) {
  const [place, month] = page.language === 'zh' ? ['zh-CN', 'long'] : ['en-GB', 'short'];
  return new Date(seconds * 1000).toLocaleDateString(place, { day: 'numeric', month, year: 'numeric' });
}

/** Bytes in at most four digits and a unit. */
function size(bytes) {
  let [amount, unit] = [bytes, 'B'];
  for (const larger of ['kB', 'MB', 'GB', 'TB']) {
    if (amount < 999.5) break;
    [amount, unit] = [amount / 1000, larger];
  }
  return `${unit === 'B' || amount >= 99.5 ? amount.toFixed(0) : amount.toFixed(1)}\u00a0${unit}`;
}

/** How large: the bytes of a file, or the characters of a row; nothing where that is not known. */
function amount(value) {
  if (value === null) return '';
  return data.page === 'rows' ? t('characters', value) : size(value);
}

/** A share in per cent, cut and not rounded: 100 % means the whole. */
function percent(share) {
  return share === 1 ? '100\u00a0%' : `${(Math.min(999, Math.floor(share * 1000 + 1e-9)) / 10).toFixed(1)}\u00a0%`;
}

/** The same in whole per cent. */
const wholePercent = (share) => `${share === 1 ? 100 : Math.min(99, Math.floor(share * 100 + 1e-9))}\u00a0%`;

const number = (value) => value.toLocaleString('en-US');
