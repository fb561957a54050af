// What every page has: its language and theme, and what stands around its content.

// What the page was given, and before it the values of what its result does not have.
const data = {
  ...{ complete: true, places: [], groups: [], patterns: [], moreGroups: 0, folders: [], codings: [], folderPairs: [] },
  ...{ repeated: [[0, 0], [0, 0], [0, 0], [0, 0]], figures: null, siblings: 0, identityOnly: [], plan: null },
  ...{ narrowed: null, recall: null, skips: {}, missing: {}, skipped: [], doubtful: [], doubts: 0 },
  ...{ parts: [], allParts: 0, unread: 0 },
  ...JSON.parse(byId('data').textContent),
};

const THEMES = { auto: '◐', light: '○', dark: '●' };

const page = { language: data.language ?? ofBrowser(), theme: 'auto', isKept: true };

/** The first language of the reader's browser that the page speaks. */
function ofBrowser() {
  const spoken = navigator.languages.map((each) => each.slice(0, 2));
  return spoken.find((each) => LANGUAGES.includes(each)) ?? 'en';
}

/** Say the title, and all that stands still, in the present language. */
function drawShell(title) {
  document.documentElement.lang = page.language === 'zh' ? 'zh-Hans' : 'en';
  byId('title').textContent = title;
  document.title = `${title} · simdup`;
  for (const element of document.querySelectorAll('[data-w]')) element.textContent = t(element.dataset.w);
  for (const element of document.querySelectorAll('[data-label]')) element.setAttribute('aria-label', t(element.dataset.label));
  for (const element of document.querySelectorAll('[data-hint]')) element.placeholder = t(element.dataset.hint);
  byId('language').textContent = t('other');
  byId('language').lang = page.language === 'zh' ? 'en' : 'zh-Hans';
  byId('language').setAttribute('aria-label', t('otherLabel'));
  byId('theme').textContent = THEMES[page.theme];
  for (const name of ['aria-label', 'title']) byId('theme').setAttribute(name, t('themes')[page.theme]);
  drawHelp();
}

/** The keys, each with what it does, and who made the page. */
function drawHelp() {
  const dialog = byId('helping');
  dialog.setAttribute('aria-label', t('help'));
  dialog.replaceChildren(make('h2', {}, t('help')),
    make('dl', { class: 'keys' }, t('keys').filter(([, , decides]) => data.plan || !decides).map(([keys, does]) => make('div', {},
      make('dt', {}, keys.split(' ').map((key) => make('kbd', {}, key))), make('dd', {}, does)))),
    data.plan ? make('p', { class: 'kept' }, t(page.isKept ? 'keptHere' : 'notKept')) : null,
    make('p', { class: 'note' }, t('made', data.version)),
    make('p', { class: 'acts' }, make('button', { type: 'button', onclick: () => dialog.close() }, t('close'))));
}

/** Listen to the buttons for language and theme, and to the link to what matters. */
function listenToShell(draw) {
  byId('language').addEventListener('click', () => {
    page.language = page.language === 'zh' ? 'en' : 'zh';
    draw();
  });
  byId('theme').addEventListener('click', () => {
    page.theme = { auto: 'light', light: 'dark', dark: 'auto' }[page.theme];
    document.documentElement.dataset.theme = page.theme;
    draw();
  });
  byId('help').addEventListener('click', () => byId('helping').showModal());
  const link = document.querySelector('.skip');
  link.addEventListener('click', (event) => {
    // The address has the filters, so the link does not change it.
    event.preventDefault();
    document.querySelector(link.getAttribute('href')).focus();
  });
}
