// What can go safely and what wants a look: each a filter that a click sets and takes back.

// Stands for the list of parts of larger files, which are in no group.
const PARTS = 'parts';

function drawFacets() {
  // Answers are no duplicates of each other.
  if (data.page === 'answers') return;
  const [identical, text, words, near] = data.repeated.map((counts, place) => [KINDS[place], ...counts]);
  const versions = groups.filter((group) => group.chain).length;
  const related = groups.filter((group) => group.kind === RELATED).length;
  const blocks = [
    ['safe', [identical, text]],
    ['look', [words, [VERSIONS, versions], near, [RELATED, related], [PARTS, data.allParts], [SAME_PATTERN, patterns.length]]],
  ];
  byId('facets').replaceChildren(...blocks.map(([name, list]) => blockOf(name, list.filter(([, count]) => count))));
}

function blockOf(name, list) {
  return make('div', { class: `facet ${name}` },
    make('h2', {}, t(name)),
    make('div', { class: 'choices' }, list.map(facetOf), list.length ? null : make('p', { class: 'note' }, t('none'))));
}

/** The button that shows only groups of a kind: how many files or groups these are, and their bytes. */
function facetOf([kind, count, bytes]) {
  return make('button', {
    type: 'button', 'data-kind': kind, 'aria-pressed': String(isChosen(kind)), onclick: () => choose(kind),
  },
  make('b', {}, number(count)), ` ${t('facets')[kind](count)}`,
  bytes === undefined ? null : make('span', { class: 'note' }, ` ${amount(bytes)}`));
}

function isChosen(kind) {
  return kind === PARTS ? document.body.classList.contains(PARTS) : byId('kind').value === kind;
}

/** Show only groups of this kind or only parts, or all again if that is so already. */
function choose(kind) {
  const isTaken = isChosen(kind);
  document.body.classList.toggle(PARTS, kind === PARTS && !isTaken);
  if (kind === SAME_PATTERN) {
    byId('patterns').checked = !isTaken;
    drawFilters();
  }
  byId('kind').value = isTaken || kind === PARTS ? '' : kind;
  applyFilters();
}

/** Say which of these filters is set. */
function pressFacets() {
  for (const button of byId('facets').querySelectorAll('button')) {
    button.setAttribute('aria-pressed', String(isChosen(button.dataset.kind)));
  }
}
