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
  element.append(...children.flat(2).filter((child) => child !== null && child !== undefined));
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

/** A button that is all of an element. */
function wideButton(tag, words, onclick) {
  return make(tag, { class: 'fold' }, make('button', { type: 'button', onclick }, words));
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

/** A name, and behind it its folder in the background; cut off from the direction of what surrounds it. `words` are marked. */
function pathOf(member, words = []) {
  const { path, name, label } = member;
  const found = placesOf(path, words);
  if (label !== undefined || data.page === 'rows') {
    return make('bdi', { class: 'path' }, make('span', { class: 'name' }, ...(label === undefined ? lit(path, 0, found) : lit(label, 0, placesOf(label, words)))),
      label === undefined ? null : [' ', make('span', { class: 'folder' }, ...lit(path, 0, found))]);
  }
  const begin = path.length - name.length;
  return make('bdi', { class: 'path' }, make('span', { class: 'name' }, ...lit(name, begin, found)),
    begin ? [' ', make('span', { class: 'folder' }, ...breakable(path.slice(0, Math.max(1, begin - 1)), found))] : null);
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
  return `${unit === 'B' || amount >= 99.5 ? amount.toFixed(0) : amount.toFixed(1)} ${unit}`;
}

/** How large: the bytes of a file, or the characters of a row; nothing where that is not known. */
function amount(value) {
  if (value === null) return '';
  return data.page === 'rows' ? t('characters', value) : size(value);
}

/** A share in per cent, cut and not rounded: 100 % is said only of what is whole. */
function percent(share) {
  return share === 1 ? '100 %' : `${(Math.min(999, Math.floor(share * 1000 + 1e-9)) / 10).toFixed(1)} %`;
}

const number = (value) => value.toLocaleString('en-US');

/** A day and a time of the reader's place, in each language as 2026-11-26 17:22, which Sweden writes. */
function moment(seconds) {
  return new Date(seconds * 1000).toLocaleString('sv-SE', { dateStyle: 'short', timeStyle: 'short' });
}
