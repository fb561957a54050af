// Two members side by side: what differs is marked, what does not is folded.

// Unchanged passages shown on each side of a changed one.
const CONTEXT = 1;

// Passages laid out before the reader asks for more.
const AT_ONCE = 200;

/** The comparison of two members of an open group; `chosen` are their places. */
function comparisonOf(group, chosen) {
  const places = { verdict: make('p', { class: 'verdict', role: 'status' }), table: make('div') };
  const box = make('section', { class: 'comparison', 'aria-label': t('columns').compare },
    make('div', { class: 'sides' }, [0, 1].map((side) => sideOf(group, chosen, side, places))),
    places.verdict, places.table);
  showComparison(group, chosen, places);
  return box;
}

/** The choice of the member on one side. */
function sideOf(group, chosen, side, places) {
  const label = t(side ? 'right' : 'left');
  const choice = make('select', {
    'aria-label': label,
    onchange: (event) => {
      chosen[side] = Number(event.target.value);
      showComparison(group, chosen, places);
    },
  }, group.members.map((member, place) => make('option', { value: place }, member.path)));
  choice.value = String(chosen[side]);
  return make('label', {}, make('span', { class: 'note' }, label), choice);
}

async function showComparison(group, chosen, { verdict, table }) {
  const pair = [...chosen];
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
  const body = make('tbody');
  addRows(body, rowsOf(passages));
  return make('table', { class: 'diff' },
    make('thead', {}, make('tr', {}, members.map((member) => make('th', { scope: 'col' }, pathOf(member))))), body);
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
