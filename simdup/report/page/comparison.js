// Two members side by side: what differs is marked, what does not is folded.

// Unchanged passages shown on each side of a changed one.
const CONTEXT = 1;

// Passages laid out before the reader asks for more.
const AT_ONCE = 200;

/** Open the comparison of two members, whose places these are, and go there. */
function compareWith(group, chosen) {
  page.open.set(group.id, chosen);
  redraw(group);
  goToComparison(group);
}

function goToComparison(group) {
  const box = byId(`group-${group.id}`).querySelector('.comparison');
  box.focus({ preventScroll: true });
  box.scrollIntoView({ block: 'start' });
}

/** The comparison of two members of an open group; `chosen` are their places. */
function comparisonOf(group, chosen) {
  const places = { verdict: make('p', { class: 'verdict', role: 'status' }), table: make('div'), pair: make('p', { class: 'note' }) };
  const box = make('section', { class: 'comparison', tabindex: -1, 'aria-label': t('columns').compare },
    make('div', { class: 'pairs' }, places.pair,
      make('button', { type: 'button', onclick: () => stepPair(group, -1) }, t('previousPair')),
      make('button', { type: 'button', onclick: () => stepPair(group, 1) }, t('nextPair'))),
    make('div', { class: 'sides' }, [0, 1].map((side) => sideOf(group, chosen, side, places))),
    places.verdict, places.table);
  showComparison(group, chosen, places);
  return box;
}

/**
 * Go to the next pair, or with -1 to the one before: each member beside the representative, and
 * then the pairs of the next group that is shown.
 */
function stepPair(group, step) {
  const place = Math.max(...page.open.get(group.id)) + step;
  if (place >= 1 && place < group.members.length) return compareWith(group, [0, place]);
  const inOrder = page.shown.flatMap((row) => (row.pair ? row.groups : [row])).filter(({ members }) => members.length > 1);
  const other = inOrder[inOrder.indexOf(group) + step];
  if (!other) return undefined;
  page.open.set(group.id, null);
  redraw(group);
  show(other);
  return compareWith(other, [0, step > 0 ? 1 : other.members.length - 1]);
}

/** Lay out a group that is in the list, wherever that is. */
function show(group) {
  const row = page.shown.find((each) => each === group || each.groups?.includes(group));
  while (!byId((row.pair ?? { id: `group-${group.id}` }).id)) drawMore();
  if (row.pair && !page.open.has(row.pair.id)) togglePair(row);
}

/** The choice of the member on one side, without the folder that all members share. */
function sideOf(group, chosen, side, places) {
  const label = t(side ? 'right' : 'left');
  const shared = sharedFolder(group.members.map((member) => member.path));
  const choice = make('select', {
    'aria-label': label,
    onchange: (event) => {
      chosen[side] = Number(event.target.value);
      showComparison(group, chosen, places);
    },
  }, group.members.map((member, place) => make('option', { value: place }, member.label ?? member.path.slice(shared.length))));
  choice.value = String(chosen[side]);
  return make('label', {}, make('span', { class: 'note' }, label), choice);
}

async function showComparison(group, chosen, { verdict, table, pair: about }) {
  const pair = [...chosen];
  const known = alikeOf(group, ...pair);
  about.replaceChildren(t('pair', Math.max(...pair), group.members.length - 1, group.id, known ? likeness(known.alike, known.exact) : ''));
  verdict.replaceChildren(t('loading'));
  table.replaceChildren();
  const texts = await textsOf(group);
  // Somebody may have chosen another pair meanwhile.
  if (pair.join() !== chosen.join()) return;
  const sides = pair.map((place) => textAt(texts, place));
  const missing = sides.find((side) => side.reason !== undefined);
  if (missing) {
    verdict.replaceChildren(missing.reason);
    return;
  }
  const passages = passagesOf(...sides.map((side) => side.text));
  verdict.replaceChildren(...verdictOf(sides, passages));
  table.replaceChildren(tableOf(passages, pair.map((place) => group.members[place])));
}

/** How many passages differ, what the marks mean, and whether all of the texts is here. */
function verdictOf([left, right], passages) {
  const changed = passages.filter((passage) => passage.changed).length;
  const equal = t(left.text === right.text ? 'equal' : 'equalWords');
  const remarks = left.cut || right.cut ? [t('cut', data.longestText)] : [];
  const { del, ins } = t('legend');
  const marks = make('span', { class: 'marks' }, make('del', {}, del), ' ', make('ins', {}, ins));
  return [[changed ? t('differences', changed) : equal, ...remarks].join(' · '), ...(changed ? [marks] : [])];
}

function tableOf(passages, members) {
  const shared = sharedFolder(members.map((member) => member.path));
  const body = make('tbody');
  addRows(body, rowsOf(passages));
  return make('table', { class: 'diff' },
    make('thead', {}, make('tr', {}, members.map((member) => make('th', { scope: 'col' }, pathOf(member, { shared }))))), body);
}

/** Passages, and runs of unchanged ones that are folded, in their order. */
function rowsOf(passages) {
  const rows = [];
  const isNear = (place) => passages.slice(Math.max(0, place - CONTEXT), place + CONTEXT + 1).some((each) => each.changed);
  passages.forEach((passage, place) => {
    if (isNear(place)) rows.push(passage);
    else if (rows.at(-1)?.folded) rows.at(-1).folded.push(passage);
    else rows.push({ folded: [passage] });
  });
  // A line that stands for a single one would save nothing.
  return rows.flatMap((row) => (row.folded?.length === 1 ? row.folded : [row]));
}

/** Lay out the first rows, and a button for the rest. */
function addRows(body, rows) {
  body.append(...rows.slice(0, AT_ONCE).map((row) => (row.folded ? foldOf(row.folded) : rowOf(row))));
  const rest = rows.slice(AT_ONCE);
  if (!rest.length) return;
  const line = buttonRow(2, t('moreDifferences'), () => {
    line.remove();
    addRows(body, rest);
  });
  body.append(line);
}

/** A line that stands for unchanged passages, until somebody wants to see them. */
function foldOf(passages) {
  const line = buttonRow(2, t('folded', passages.length), () => {
    const rows = passages.map(rowOf);
    line.replaceWith(...rows);
    rows[0].tabIndex = -1;
    rows[0].focus();
  });
  return line;
}

/** A row of a table of so many columns that is one button. */
function buttonRow(columns, text, onclick) {
  return make('tr', { class: 'fold' },
    make('td', { colspan: columns }, make('button', { type: 'button', onclick }, text)));
}

function rowOf(passage) {
  const state = [passage.changed ? 'changed' : 'same', passage.isParagraph ? 'paragraph' : ''].join(' ').trim();
  return make('tr', { class: state }, cellOf(passage.left, 'del'), cellOf(passage.right, 'ins'));
}

function cellOf(pieces, tag) {
  const nodes = trimmedPieces(pieces).map(([text, changed]) => (changed ? make(tag, {}, visible(text)) : visible(text)));
  return make('td', { dir: 'auto' }, nodes.flat());
}

/** The pieces without the white space at both ends, which is layout. */
function trimmedPieces(pieces) {
  const list = pieces.map((piece) => [...piece]);
  if (!list.length) return list;
  list[0][0] = list[0][0].trimStart();
  list.at(-1)[0] = list.at(-1)[0].trimEnd();
  return list;
}
