// The page as a whole: its language and theme, keys, and what happens first.

const THEMES = ['auto', 'light', 'dark'];

const page = {
  language: data.language,
  theme: 'auto',
  shown: groups,
  // By the id of an open group: the places of the two members that are compared, or null.
  open: new Map(),
};

/** Say everything in the present language. */
function drawPage() {
  document.documentElement.lang = page.language === 'zh' ? 'zh-Hans' : 'en';
  document.title = `${t('title')} · simdup`;
  for (const element of document.querySelectorAll('[data-w]')) element.textContent = t(element.dataset.w);
  for (const element of document.querySelectorAll('[data-label]')) element.setAttribute('aria-label', t(element.dataset.label));
  for (const element of document.querySelectorAll('[data-hint]')) element.placeholder = t(element.dataset.hint);
  byId('language').textContent = t('other');
  byId('language').lang = page.language === 'zh' ? 'en' : 'zh-Hans';
  byId('language').setAttribute('aria-label', t('otherLabel'));
  byId('theme').textContent = t('themes')[page.theme];
  byId('keys').textContent = t('keys');
  byId('made').textContent = t('made', data.version);
  drawSummary();
  drawHistogram();
  drawFilters();
  drawFolderPairs();
  drawParts();
  applyFilters();
}

function switchLanguage() {
  page.language = page.language === 'zh' ? 'en' : 'zh';
  drawPage();
}

function switchTheme() {
  page.theme = THEMES[(THEMES.indexOf(page.theme) + 1) % THEMES.length];
  document.documentElement.dataset.theme = page.theme;
  byId('theme').textContent = t('themes')[page.theme];
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const { target, key } = event;
  if (key === '/' && !target.matches('input:not([type=checkbox]), select')) {
    event.preventDefault();
    byId('search').focus();
  } else if (key === 'Escape') leave(target);
  else if (target.matches('.head')) goFrom(target, key, event);
}

/** Escape: empty the search, or close the group that one is in. */
function leave(target) {
  const item = target.closest('.group');
  if (target.id === 'search' && target.value) {
    target.value = '';
    applyFilters();
  }
  const group = item && listed().find((each) => `group-${each.id}` === item.id);
  if (group && page.open.has(group.id)) toggle(group);
}

/** Up, down, home and end among the groups. */
function goFrom(head, key, event) {
  const item = head.closest('.group');
  if (key === 'ArrowDown' && !item.nextElementSibling) drawMore();
  if (key === 'End') drawMore(Infinity);
  const next = {
    ArrowDown: item.nextElementSibling,
    ArrowUp: item.previousElementSibling,
    Home: item.parentElement.firstElementChild,
    End: item.parentElement.lastElementChild,
  }[key];
  if (!next) return;
  event.preventDefault();
  next.querySelector('.head').focus();
}

function start() {
  listenToFilters();
  byId('language').addEventListener('click', switchLanguage);
  byId('theme').addEventListener('click', switchTheme);
  byId('more').addEventListener('click', () => drawMore());
  document.addEventListener('keydown', onKey);
  new IntersectionObserver((seen) => {
    if (seen.some((each) => each.isIntersecting)) drawMore();
  }, { rootMargin: '600px' }).observe(byId('more'));
  // On paper there is nothing to scroll.
  window.addEventListener('beforeprint', () => drawMore(Infinity));
  drawPage();
}

start();
