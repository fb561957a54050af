// The views of a page of groups: which list or sheet is on the screen.

// What each view lists; a view that lists nothing is not offered.
const VIEWS = {
  groups: () => groups,
  folders: () => folderPairs,
  related: () => related,
  patterns: () => patterns,
  parts: () => data.parts,
  about: () => [],
};

// Views that are one sheet, and not a list with a pane.
const SHEETS = ['parts', 'about'];

/** A button for each view that has something, with its number. */
function drawViews() {
  const counts = { ...Object.fromEntries(Object.entries(VIEWS).map(([view, list]) => [view, list().length])), parts: data.allParts + data.unread };
  const offered = Object.keys(VIEWS).filter((view) => view === 'about' || counts[view]);
  byId('views').replaceChildren(...offered.map((view) => make('button', {
    type: 'button', 'data-view': view, 'aria-current': view === page.view ? 'page' : null, onclick: () => showView(view),
  }, t('views')[view], counts[view] ? make('span', { class: 'note' }, ` ${number(counts[view])}`) : null)));
}

/** Show a view, with the row that is chosen there or the first that is undecided. */
function showView(view) {
  page.view = view;
  Object.assign(page, { chosen: null, isInside: false });
  drawFilters();
  applyFilters();
  drawViews();
  byId('views').querySelector(`[data-view=${view}]`).focus();
}

/** Show what belongs to the present view, and on a phone either the list or what was chosen of it. */
function placeView() {
  for (const sheet of SHEETS) byId(sheet).hidden = page.view !== sheet;
  byId('review').hidden = SHEETS.includes(page.view);
  document.body.classList.toggle('inside', page.isInside);
}

/** The files that are parts of larger ones. */
function drawParts() {
  const left = data.allParts - data.parts.length;
  byId('parts').replaceChildren(make('h2', {}, t('parts')), make('ul', {}, data.parts.map(([path, whole, share, ...place]) => make('li', {},
    `${likeness(share, place[0] !== null)} `, make('bdi', { class: 'path name' }, path), ` ${t('partOf')} `,
    make('bdi', { class: 'path name' }, whole), place[0] === null ? null : make('span', { class: 'note' }, t('place', ...place)))),
  left ? make('li', { class: 'note' }, t('moreParts', left)) : null,
  data.unread ? make('li', { class: 'note' }, t('unread', data.unread)) : null));
}
