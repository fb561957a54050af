// Which rows of the list are shown: those of which one file has all words of the search.

/** Show the rows that fit what is typed, and the chosen one of them. */
function applyFilters() {
  page.words = byId('search').value.toLowerCase().split(/\s+/).filter(Boolean);
  page.shown = listed().filter(fits);
  byId('count').closest('p').hidden = !page.words.length;
  byId('count').textContent = t('counted', page.shown.length, listed().length);
  byId('seeking').hidden = !every.length && !forms.length;
  if (!page.shown.includes(page.chosen)) page.chosen = page.tab === 'overview' ? null : page.shown.find((row) => row.members && openIn(row).length) ?? page.shown[0] ?? null;
  drawChoices();
  drawList();
  choose(page.chosen);
  keepAddress();
}

/** Whether a row has a file with all words in its path, format or encoding; which one is remembered. */
function fits(row) {
  const hasWords = (text) => page.words.every((word) => text.includes(word));
  if (!row.members) return hasWords(`${row.path} ${row.other ?? row.whole ?? ''}`.toLowerCase());
  const place = row.members.findIndex(({ searched }) => hasWords(searched));
  page.found.set(row.id, place);
  return place >= 0;
}

function resetSearch() {
  byId('search').value = '';
  applyFilters();
}

/** Search: from the overview in the first list that has rows. */
function search() {
  const { value } = byId('search');
  if (page.tab === 'overview') {
    showTab(tabsHere()[1]);
    byId('search').value = value;
    byId('search').focus();
  }
  page.screen = 'list';
  applyFilters();
}
