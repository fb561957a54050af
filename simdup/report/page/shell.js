// What every page has: its language and theme, and what stands around its content.

// What the page was given, and before it the values of what its result does not have.
const data = {
  complete: true,
  places: [],
  repeated: [[0, 0], [0, 0], [0, 0], [0, 0]],
  figures: null,
  narrowed: null,
  recall: null,
  skips: {},
  missing: {},
  skipped: [],
  parts: [],
  allParts: 0,
  unread: 0,
  folderPairs: [],
  folders: [],
  codings: [],
  groups: [],
  moreGroups: 0,
  patterns: [],
  siblings: 0,
  identityOnly: [],
  doubtful: [],
  doubts: 0,
  plan: null,
  ...JSON.parse(byId('data').textContent),
};

const THEMES = ['auto', 'light', 'dark'];

const page = { language: data.language ?? ofBrowser(), theme: 'auto' };

/** The first language of the reader's browser that the page speaks. */
function ofBrowser() {
  const spoken = navigator.languages.map((each) => each.slice(0, 2));
  return spoken.find((each) => each in WORDS) ?? 'en';
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
  byId('theme').textContent = t('themes')[page.theme];
  byId('keys').textContent = t('keys');
  byId('made').textContent = t('made', data.version);
}

/** Listen to the buttons for language and theme, and to the link to what matters. */
function listenToShell(draw) {
  byId('language').addEventListener('click', () => {
    page.language = page.language === 'zh' ? 'en' : 'zh';
    draw();
  });
  byId('theme').addEventListener('click', () => {
    page.theme = THEMES[(THEMES.indexOf(page.theme) + 1) % THEMES.length];
    document.documentElement.dataset.theme = page.theme;
    byId('theme').textContent = t('themes')[page.theme];
  });
  const link = document.querySelector('.skip');
  link.addEventListener('click', (event) => {
    // The address has the filters, so the link does not change it.
    event.preventDefault();
    document.querySelector(link.getAttribute('href')).focus();
  });
}
