// What every page has: its language and theme, and the frame around its content.

// What the page was given, and before it the values that its result does not have.
const data = {
  ...{ complete: true, places: [], groups: [], patterns: [], moreGroups: 0, folders: [], codings: [], folderPairs: [], figures: null },
  ...{ siblings: 0, identityOnly: [], plan: null, differences: {}, forms: {}, parts: [], allParts: 0, unread: 0 },
  ...{ narrowed: null, recall: null, skips: {}, missing: {}, skipped: [], doubtful: [], doubts: 0 },
  ...JSON.parse(byId('data').textContent),
};

const page = { language: data.language ?? ofBrowser(), theme: 'auto', isKept: true };

/** The first language of the reader's browser that the page speaks. */
function ofBrowser() {
  const spoken = navigator.languages.map((name) => name.slice(0, 2));
  return spoken.find((name) => LANGUAGES.includes(name)) ?? 'en';
}

/** Write the title: what the page is about, and on a phone which entry of the list is on the screen. */
function drawTitle() {
  const [name, about] = titleInWords();
  const where = page.screen === 'group' && page.chosen ? make('b', { class: 'where' }, dotted([t('tabs')[page.tab], t('placeOf', page.shown.indexOf(page.chosen) + 1, page.shown.length)])) : null;
  replace(byId('title'), where, make('bdi', {}, name), make('span', {}, dotted([about, data.day ? dayOf(data.day) : ''])));
  document.title = `${name} · simdup`;
}

/** Write all words that stand in the markup, in the present language. */
function drawShell() {
  document.documentElement.lang = page.language === 'zh' ? 'zh-Hans' : 'en';
  drawTitle();
  for (const element of document.querySelectorAll('[data-w]')) element.textContent = t(element.dataset.w);
  for (const element of document.querySelectorAll('[data-label]')) element.setAttribute('aria-label', t(element.dataset.label));
  for (const element of document.querySelectorAll('[data-hint]')) element.placeholder = t(element.dataset.hint);
  byId('language').textContent = t('other');
  byId('language').lang = page.language === 'zh' ? 'en' : 'zh-Hans';
  byId('language').setAttribute('aria-label', t('otherLabel'));
  replace(byId('theme'), icon(page.theme));
  for (const name of ['aria-label', 'title']) byId('theme').setAttribute(name, t('themes')[page.theme]);
  replace(byId('back'), icon('back'));
}

/** The name of the place that was searched, and what kind of page this is. */
function titleInWords() {
  const names = data.places.map((place) => place.replace(/[\\/]+$/, '').split(/[\\/]/).pop() || place);
  const name = names.length > 1 ? t('morePlaces', names[0], names.length - 1) : names[0] ?? (data.page === 'accuracy' ? t('title', data.table) : t('files', data.read));
  return [name, t('pageName')];
}

/** The keys, each with what it does; the scan; and who made the page. */
function openHelp() {
  const dialog = byId('helping');
  dialog.setAttribute('aria-label', t('help'));
  replace(dialog, make('h2', { tabindex: -1, autofocus: true }, t('help')),
    make('dl', { class: 'keys' }, t('keys').filter(([, , decides]) => data.plan || !decides).map(([keys, does]) => make('div', {},
      make('dt', {}, keys.split(' ').map((key) => make('kbd', {}, key))), make('dd', {}, does)))),
    data.plan ? make('p', {}, t(page.isKept ? 'keptHere' : 'notKept')) : null,
    typeof aboutScan === 'function' ? aboutScan() : null,
    make('p', { class: 'note' }, t('made', data.version)),
    make('p', {}, button(t('close'), () => dialog.close())));
  dialog.showModal();
}

/** Listen to the buttons for language and theme, and to the link to the content. */
function listenToShell(drawAll) {
  byId('language').addEventListener('click', () => {
    page.language = page.language === 'zh' ? 'en' : 'zh';
    drawAll();
  });
  byId('theme').addEventListener('click', () => {
    page.theme = { auto: 'light', light: 'dark', dark: 'auto' }[page.theme];
    document.documentElement.dataset.theme = page.theme;
    drawAll();
  });
  byId('help').addEventListener('click', openHelp);
  const link = document.querySelector('.skip');
  link.addEventListener('click', (event) => {
    // The address keeps where the reader is, so the link does not change it.
    event.preventDefault();
    const target = document.querySelector(link.getAttribute('href'));
    if (target.checkVisibility()) (target.querySelector('[tabindex="0"]') ?? target).focus();
    else focusOverview();
  });
}
