// What is different between two texts: by words, and by characters where Chinese, Japanese.

const TOKEN = /\s+|[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]|(?:(?![\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}])[\p{L}\p{M}\p{N}])+|[^]/gu;

// Line ends of mere layout, in which a long line goes on: Han is joined without a space. What follows
// a sentence begins a line of its own.
const LINE_END = /((?<=[^\n]{24}[\u3000-\u9fff\uff00-\uffef])(?<![。！？])\n(?=[\u3000-\u9fff]))|((?<=[^\n]{50})(?<![.!?。！？])\n(?=[\p{L}\p{N}]))|\n/gu;

// Differences that are looked for between two anchors before all of it counts as replaced.
const MOST_EDITS = 1000;

// Tokens of a stretch that is compared as it is, without looking for anchors.
const SHORT_STRETCH = 300;

// Tokens after which an unchanged passage ends, if no sentence does.
const LONGEST_PASSAGE = 250;

/** The tokens of a text: words, single Han characters and kana, white space, signs. */
function tokensOf(text) {
  return text.match(TOKEN) ?? [];
}

/** The tokens as numbers, equal for equal tokens; white space is all the same, unless layout counts. */
function numbersOf(tokens, known, inLayout) {
  return Int32Array.from(tokens, (token) => {
    const key = inLayout ? token : token.trim() || ' ';
    if (!known.has(key)) known.set(key, known.size);
    return known.get(key);
  });
}

/**
 * For each token on the left the place of its match on the right, or -1; matches never cross.
 *
 * Runs of tokens that occur once on each side are anchors; between them the shortest edit is
 * found, unless it is long.
 */
function matched(a, b) {
  const match = new Int32Array(a.length).fill(-1);
  const todo = [[0, a.length, 0, b.length]];
  while (todo.length) {
    const [a0, a1, b0, b1] = trimmed(a, b, todo.pop(), match);
    if (a0 === a1 || b0 === b1) continue;
    const found = anchors(a, b, [a0, a1, b0, b1]);
    if (!found.length) {
      shortest(a, b, [a0, a1, b0, b1], match);
      continue;
    }
    let [from, onto] = [a0, b0];
    for (const [i, j] of [...found, [a1, b1]]) {
      todo.push([from, i, onto, j]);
      [from, onto] = [i, j];
    }
  }
  return match;
}

/** The stretch without the tokens that both sides begin and end with, which match. */
function trimmed(a, b, [a0, a1, b0, b1], match) {
  while (a0 < a1 && b0 < b1 && a[a0] === b[b0]) match[a0++] = b0++;
  while (a0 < a1 && b0 < b1 && a[a1 - 1] === b[b1 - 1]) match[--a1] = --b1;
  return [a0, a1, b0, b1];
}

/** Places of runs that occur once on each side, in the order of both; the longest such list. */
function anchors(a, b, [a0, a1, b0, b1]) {
  if (a1 - a0 + b1 - b0 <= SHORT_STRETCH) return [];
  for (const length of [4, 2, 1]) {
    const left = single(a, a0, a1, length);
    const right = single(b, b0, b1, length);
    const pairs = [];
    for (const [key, i] of left) {
      const j = right.get(key);
      // What is at the very beginning is no anchor, for it would leave all that is to be done.
      if (i >= 0 && j >= 0 && (i > a0 || j > b0)) pairs.push([i, j]);
    }
    if (pairs.length) return rising(pairs);
  }
  return [];
}

/** The runs of so many tokens, and where each begins; -1 for those that occur again. */
function single(tokens, from, to, length) {
  const places = new Map();
  for (let i = from; i + length <= to; i++) {
    const key = tokens.subarray(i, i + length).join();
    places.set(key, places.has(key) ? -1 : i);
  }
  return places;
}

/** The longest part of the pairs, which rise on the left, that rises on the right too. */
function rising(pairs) {
  const ends = [];
  const before = pairs.map(([, j], place) => {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (pairs[ends[middle]][1] < j) low = middle + 1;
      else high = middle;
    }
    ends[low] = place;
    return low ? ends[low - 1] : -1;
  });
  const list = [];
  for (let at = ends.at(-1) ?? -1; at >= 0; at = before[at]) list.push(pairs[at]);
  return list.reverse();
}

/** Match what the shortest edit of a stretch keeps (Myers 1986); nothing if it is too long. */
function shortest(a, b, [a0, a1, b0, b1], match) {
  const [n, m] = [a1 - a0, b1 - b0];
  const most = Math.min(n + m, MOST_EDITS);
  const farthest = new Int32Array(2 * most + 3);
  const steps = [];
  for (let d = 0; d <= most; d++) {
    steps.push(farthest.slice(most + 1 - d - 1, most + 1 + d + 2));
    for (let k = -d; k <= d; k += 2) {
      const down = k === -d || (k !== d && farthest[most + k] < farthest[most + 2 + k]);
      let x = down ? farthest[most + 2 + k] : farthest[most + k] + 1;
      while (x < n && x - k < m && a[a0 + x] === b[b0 + x - k]) x++;
      farthest[most + 1 + k] = x;
      if (x >= n && x - k >= m) return walkBack(steps, [a0, b0], [n, m], match);
    }
  }
  return undefined;
}

/** Follow the edit from its end to its beginning. */
function walkBack(steps, [a0, b0], [n, m], match) {
  let [x, y] = [n, m];
  for (let d = steps.length - 1; d >= 0; d--) {
    const at = (k) => steps[d][k + d + 1];
    const k = x - y;
    const down = k === -d || (k !== d && at(k - 1) < at(k + 1));
    const [beginX, beginY] = d === 0 ? [0, 0] : down ? [at(k + 1), at(k + 1) - k - 1] : [at(k - 1), at(k - 1) - k + 1];
    while (x > beginX && y > beginY) match[a0 + --x] = b0 + --y;
    [x, y] = [beginX, beginY];
  }
}

/** Stretches that are the same on both sides, or changed: {same, a: [from, to], b: [from, to]}. */
function stretches(match, lengthB) {
  const list = [];
  let [i, j] = [0, 0];
  while (i < match.length || j < lengthB) {
    const [i0, j0] = [i, j];
    while (i < match.length && match[i] === j) [i, j] = [i + 1, j + 1];
    if (i > i0) list.push({ same: true, a: [i0, i], b: [j0, j] });
    const [i1, j1] = [i, j];
    while (i < match.length && match[i] < 0) i++;
    j = i < match.length ? match[i] : lengthB;
    if (i > i1 || j > j1) list.push({ same: false, a: [i1, i], b: [j1, j] });
  }
  return list;
}

/** The same, in which text that only one side has begins after a line break where it can: as a paragraph of its own. */
function slid(list, a, b) {
  for (let at = 1; at < list.length - 1; at += 1) {
    const [before, change, after] = list.slice(at - 1, at + 2);
    const [side, tokens] = change.a[0] === change.a[1] ? ['b', b] : ['a', a];
    const [from, to] = change[side];
    const isOneSided = !change.same && (change.a[0] === change.a[1] || change.b[0] === change.b[1]);
    let steps = 0;
    while (isOneSided && to + steps < after[side][1] && tokens[from + steps] === tokens[to + steps] && !(steps && tokens[from + steps - 1].includes('\n'))) steps += 1;
    if (!steps || !tokens[from + steps - 1].includes('\n')) continue;
    for (const name of ['a', 'b']) {
      before[name][1] += steps;
      change[name] = change[name].map((place) => place + steps);
      after[name][0] += steps;
    }
  }
  return list.filter((each) => each.a[0] < each.a[1] || each.b[0] < each.b[1]);
}

/** The same with what is only white space or a sign between two changes counted as changed. */
function withoutCrumbs(list, tokens) {
  const merged = [];
  list.forEach((each, place) => {
    const isCrumb = each.same && place > 0 && place < list.length - 1
      && !/[\p{L}\p{N}\n]/u.test(tokens.slice(...each.a).join(''));
    const last = merged.at(-1);
    if (last && !last.same && (isCrumb || !each.same)) {
      last.a[1] = each.a[1];
      last.b[1] = each.b[1];
    } else merged.push({ same: each.same && !isCrumb, a: [...each.a], b: [...each.b] });
  });
  return merged;
}

/** The text without the line ends of mere layout, and where its lines end: {text, ends}. */
function unwrapped(text, inLayout) {
  const ends = [];
  let joined = 0;
  const joinedText = text.replace(/\r\n?/g, '\n').replace(LINE_END, (_, isHan, isOther, at) => {
    ends.push(at - joined - (isHan ? 1 : 0));
    if (inLayout || !(isHan || isOther)) return '\n';
    joined += isHan ? 1 : 0;
    return isHan ? '' : ' ';
  });
  return { text: joinedText, ends };
}

/**
 * Two texts as passages beside each other: {left, right, lines, changed, isParagraph}. Each side is a
 * list of [text, changed], and `lines` has the number of the line at which it begins. A passage ends
 * with a sentence or line that both texts end there. With `inLayout` white space is compared too.
 */
function passagesOf(left, right, inLayout = false) {
  const [one, two] = [left, right].map((text) => unwrapped(text, inLayout));
  const [a, b, known] = [tokensOf(one.text), tokensOf(two.text), new Map()];
  const match = matched(numbersOf(a, known, inLayout), numbersOf(b, known, inLayout));
  const list = [];
  let passage = { left: [], right: [], changed: false };
  const finish = (isParagraph) => {
    if (passage.left.length || passage.right.length) list.push({ ...passage, isParagraph });
    passage = { left: [], right: [], changed: false };
  };
  const all = slid(stretches(match, b.length), a, b);
  for (const { same, a: [a0, a1], b: [b0, b1] } of inLayout ? all : withoutCrumbs(all, a)) {
    if (!same) {
      const isFirst = !passage.left.length && !passage.right.length;
      addChange(passage, a.slice(a0, a1).join(''), b.slice(b0, b1).join(''), inLayout);
      if (isFirst && (a0 === a1 || b0 === b1) && [a[a1 - 1], b[b1 - 1]].some((token, place) => [a1 - a0, b1 - b0][place] && token.includes('\n'))) finish(true);
      continue;
    }
    let from = 0;
    for (let i = 1; i <= a1 - a0; i++) {
      const end = passageEnd(a, b, a0 + i - 1, b0 + i - 1) || (i - from >= LONGEST_PASSAGE ? 'cut' : '');
      if (!end && i < a1 - a0) continue;
      passage.left.push([a.slice(a0 + from, a0 + i).join(''), false]);
      passage.right.push([b.slice(b0 + from, b0 + i).join(''), false]);
      from = i;
      if (end) finish(end === 'paragraph');
    }
  }
  finish(false);
  return numbered(list, { left: one.ends, right: two.ends });
}

/** The passages with the number of the line at which each side begins. */
function numbered(list, ends) {
  const at = { left: [0, 0], right: [0, 0] };
  const lineOf = (side, pieces) => {
    const text = pieces.map(([piece]) => piece).join('');
    const begin = at[side][0] + text.length - text.trimStart().length;
    while (ends[side][at[side][1]] < begin) at[side][1] += 1;
    at[side][0] += text.length;
    return at[side][1] + 1;
  };
  return list.map((passage) => ({ ...passage, lines: { left: lineOf('left', passage.left), right: lineOf('right', passage.right) } }));
}

/** What was put for what; a change of white space alone is none, unless layout counts. */
function addChange(passage, gone, come, inLayout) {
  passage.left.push(...marked(gone, inLayout));
  passage.right.push(...marked(come, inLayout));
  passage.changed ||= inLayout || gone.trim() !== '' || come.trim() !== '';
}

/** A changed piece, without a mark on the white space at its ends, unless layout counts. */
function marked(text, inLayout) {
  if (inLayout) return text ? [[text, true]] : [];
  const core = text.trim();
  const from = core ? text.indexOf(core) : text.length;
  const pieces = [[text.slice(0, from), false], [core, true], [text.slice(from + core.length), false]];
  return pieces.filter(([piece]) => piece !== '');
}

/** Whether a passage ends with the tokens at these places: a paragraph, a sentence, or not ''. */
function passageEnd(a, b, i, j) {
  if (a[i].includes('\n') && b[j].includes('\n')) return 'paragraph';
  const next = a[i + 1] ?? '';
  if (/^[。！？]$/.test(a[i])) return /^[」』”’）。！？\s]/.test(next) ? '' : 'sentence';
  if (/^[」』”’）]$/.test(a[i]) && /^[。！？]$/.test(a[i - 1] ?? '')) return next.trim() ? 'sentence' : '';
  return !a[i].trim() && endsSentence(a, i - 1) && /^\p{Lu}|^[^\p{L}\p{N}]?$/u.test(next.slice(0, 1)) ? 'sentence' : '';
}

/** Whether the token there is the sign behind a sentence, and not behind a number such as "2.". */
function endsSentence(tokens, place) {
  if (tokens[place] === '.') return !/^\d{1,3}$/.test(tokens[place - 1] ?? '');
  return /^[!?。！？」』”’）]$/.test(tokens[place] ?? '');
}
