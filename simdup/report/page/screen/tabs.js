// The tabs: which list each has, which part of it is chosen, and where the reader is.

// By tab the parts that its list can be narrowed to, each a name and a function of its rows.
const TABS = {
  overview: {},
  answers: { all: () => every },
  identical: { all: () => copies },
  look: { all: () => looks, words: () => looks.filter(({ isSameWords }) => isSameWords), near: () => looks.filter(({ isSameWords }) => !isSameWords) },
  folders: { all: () => folderPairs },
  related: { related: () => related, forms: () => forms, parts: () => parts },
};

/** The tabs of this page: what has rows, and the overview. */
function tabsHere() {
  const isOfAnswers = data.page === 'answers';
  return Object.keys(TABS).filter((tab) => (tab === 'overview' ? !isOfAnswers : tab === 'answers' ? isOfAnswers : tab === 'related' ? countOf(tab) : countOf(tab) && !isOfAnswers));
}

/** How many rows a tab has. */
function countOf(tab) {
  const { all, ...some } = TABS[tab];
  return all ? all().length : Object.values(some).reduce((sum, rows) => sum + rows().length, 0) + (tab === 'related' ? data.allParts - parts.length : 0);
}

/** The rows of the present tab, of the chosen part. */
const listed = () => TABS[page.tab][page.part]?.() ?? [];

/** A tab for each list, with its number, or with a tick once nothing is left there. */
function drawTabs() {
  const tabs = tabsHere();
  const buttons = tabs.map((tab, place) => {
    const isDone = data.plan && ['identical', 'look'].includes(tab) && !leftIn(tab).length;
    return make('button', {
      type: 'button', 'data-tab': tab, 'aria-current': tab === page.tab ? 'page' : null, 'aria-keyshortcuts': place + 1, onclick: () => showTab(tab),
      onkeydown: (event) => stepAmong(event, byId('tabs')),
    }, t('tabs')[tab], tab === 'overview' ? null : make('span', { class: 'note' }, isDone ? [icon('check'), make('span', { class: 'unseen' }, t('decided'))] : number(countOf(tab))));
  });
  byId('tabs').replaceChildren(...oneStop(buttons));
}

/** Go with the arrow keys among the buttons of one stop. */
function stepAmong(event, place) {
  const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step) return;
  const buttons = [...place.querySelectorAll('button')];
  const next = buttons[buttons.indexOf(event.currentTarget) + step];
  event.preventDefault();
  event.stopPropagation();
  if (!next) return;
  for (const each of buttons) each.tabIndex = each === next ? 0 : -1;
  next.focus();
}

/** Show a tab, with its first undecided row. */
function showTab(tab, part = Object.entries(TABS[tab]).find(([, rows]) => rows().length)?.[0] ?? 'all') {
  Object.assign(page, { tab, part, chosen: null, screen: 'list', isExporting: false });
  byId('search').value = '';
  applyFilters();
  drawTabs();
  if (tab === 'overview') focusOverview();
  else (currentRow() ?? byId('files')).focus({ preventScroll: true });
}

/** The parts of the present list, as one choice; nothing where there is only one. */
function drawChoices() {
  const parts = Object.entries(TABS[page.tab]).filter(([, rows]) => rows().length);
  const buttons = parts.map(([part, rows]) => make('button', {
    type: 'button', role: 'radio', 'aria-checked': String(part === page.part), onclick: () => {
      page.part = part;
      applyFilters();
      byId('choices').querySelector('[aria-checked=true]')?.focus();
    }, onkeydown: (event) => stepAmong(event, byId('choices')),
  }, `${t('partNames')[part]} ${number(rows().length)}`));
  replace(byId('choices'), parts.length > 1 ? make('div', { class: 'parts', role: 'radiogroup', 'aria-label': t('partsLabel') }, oneStop(buttons)) : null,
    page.tab === 'identical' && data.plan ? ordersOf() : null);
}

/** The choice of the reasons by which a file is kept: the orders that Python computed. */
function ordersOf() {
  const { orders = [] } = data.plan;
  if (orders.length < 2) return null;
  const choice = make('select', { onchange: (event) => {
    setOrder(Number(event.target.value));
    drawAll();
  } }, orders.map(({ name }, at) => make('option', { value: at }, t('orders')[name] ?? name)));
  choice.value = String(orders.indexOf(orderNow()));
  return make('label', { class: 'rule' }, make('span', {}, t('keepBy')), choice);
}

/** Whether a row is shown on one sheet, and not as files and their comparison. */
const isOnSheet = (row) => !row?.members || page.part === 'forms';

/** Show on the screen what belongs to the present tab. */
function placeView() {
  const isOverview = page.tab === 'overview';
  byId('overview').hidden = !isOverview;
  byId('review').hidden = isOverview;
  const isSheet = !isOverview && isOnSheet(page.chosen);
  for (const [id, isShown] of [['files', !isSheet], ['comparison', !isSheet], ['sheet', isSheet]]) byId(id).hidden = !isShown;
  Object.assign(document.body.dataset, { tab: page.tab, screen: isOverview ? 'overview' : page.screen });
  drawTitle();
}

/** Go back: on a narrow screen from the group to the list, from the list to the overview. */
function goBack() {
  if (page.tab === 'overview') {
    page.isExporting = false;
    drawOverview();
    drawPlan();
    focusOverview();
  } else if (page.screen === 'group' && !isWide()) {
    page.screen = 'list';
    placeView();
    (currentRow() ?? byId('list')).focus();
  } else if (tabsHere().includes('overview')) showTab('overview');
  keepAddress();
}

/** Whether list, files and comparison are beside each other. */
const isWide = () => matchMedia('(min-width: 1181px)').matches;
