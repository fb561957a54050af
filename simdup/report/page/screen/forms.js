// What is only to know: forms with the places that differ, and parts. Nothing is removed here.

/** A form with its numbered places, or without them where the texts were not read. */
function sheetOfForm(group) {
  const form = data.forms[group.id];
  return [
    make('h2', { tabindex: -1 }, make('bdi', {}, group.title)), make('p', { class: 'lead' }, t('formLead', group.members.length)),
    form ? make('div', { class: 'halves' }, placesTable(group, form), patternOf(group, form))
      : make('ul', { class: 'lines' }, group.members.map(({ path }) => make('li', {}, sign('forms'), pathOf(path)))),
    group.sharing ? make('p', { class: 'note' }, t('sharing', ...group.sharing)) : null,
  ];
}

/** What each file has at each place. */
function placesTable(group, { places, rows }) {
  const body = make('tbody');
  layOut(body, rows.map((row, place) => [row, place]), ([row, place]) => make('tr', { 'aria-current': place === page.place ? 'true' : null, onclick: () => choose(group, place) },
    make('th', { scope: 'row' }, make('button', { type: 'button', class: 'link plain', onclick: () => choose(group, place) }, nameOf(group.members[place].name))), row.map((reading) => make('td', { dir: 'auto' }, reading || '–'))),
  (left, onclick) => make('tr', {}, make('td', { colspan: places + 1 }, button(t('more', left), onclick, 'link'))), Math.max(8, page.place + 1));
  return make('section', {}, make('h3', {}, t('whatDiffers')), make('div', { class: 'wide', tabindex: 0, role: 'region', 'aria-label': t('whatDiffers') }, make('table', {},
    make('thead', {}, make('tr', {}, make('th', { scope: 'col' }, t('file')), rows[0].map((_, at) => make('th', { scope: 'col' }, numberOf(at))))), body)));
}

const numberOf = (at) => make('span', { class: 'number' }, at + 1);

/** The text of the form, with what the chosen file has at each place. */
function patternOf(group, { pattern, rows }) {
  if (!pattern.length) return null;
  const row = rows[page.place] ?? rows[0];
  return make('section', {}, make('h3', {}, t('pattern', group.members[page.place].name)), make('div', { class: 'whole pattern', dir: 'auto', tabindex: 0, role: 'region', 'aria-label': t('pattern', '') },
    pattern.map((piece) => (typeof piece === 'string' ? visible(piece) : make('span', { class: 'reading' }, numberOf(piece), row[piece])))));
}

/** A file that is part of a larger one. */
function sheetOfPart({ title, path, whole, share, start, end }) {
  return [make('h2', { tabindex: -1 }, make('bdi', {}, title)), make('p', { class: 'lead' }, t('partLead', wholePercent(share))),
    make('p', {}, pathOf(path), ` ${t('partIn')} `, pathOf(whole), start === null ? null : t('place', start, end)),
    make('p', { class: 'note' }, dotted([data.allParts > parts.length ? t('moreParts', data.allParts - parts.length) : '', data.unread ? t('unread', data.unread) : '']))];
}
