// The page of an evaluation: a size and a k are chosen, and everything shows their accuracy.

const ENDS = ['value', 'low', 'high'];
const byMeasure = (valueOf) => Object.fromEntries(MEASURES.map((measure) => [measure, valueOf(measure)]));

/** A row of the evaluation, as in JSON, with its curves as arrays by k: of values, lower and upper ends. */
function sizeOf({ bits, default: { k }, best, recommended, cosine, verified, curve, tally, found }) {
  const endsOf = (accuracy) => byMeasure((measure) => ENDS.map((end) => accuracy[measure][end]));
  return {
    bits,
    k,
    best: best.k,
    recommended: recommended?.k ?? null,
    similarity: verified.similarity,
    ownShare: verified.own_share,
    // The cosine of two texts whose fingerprints are k bits apart.
    alike: curve.map((_, at) => Math.max(0, Math.sin(Math.PI * (0.5 - at / bits)))),
    curve: byMeasure((measure) => ENDS.map((end) => curve.map((each) => each[measure][end]))),
    predicted: byMeasure((measure) => curve.map((each) => each.predicted[measure])),
    cosine: endsOf(cosine),
    verified: endsOf(verified),
    tally,
    found,
  };
}

// Each recipe with its sizes, in the order of the rows.
const recipes = [];
for (const row of data.rows) {
  if (recipes.at(-1)?.name !== row.name) recipes.push({ name: row.name, without: row.without_features, sizes: [] });
  recipes.at(-1).sizes.push(sizeOf(row));
}

// The recipe, the place of the size among its sizes, and k as a share of the bits, which represents
// one similarity whatever the size.
Object.assign(page, { recipe: recipes[0], place: 0, share: 0 });

const MARKS = ['k', 'best', 'recommended'];

const sizeNow = () => page.recipe.sizes[page.place];

/** The k of a size that is the same share of its bits as the one that was chosen. */
function kOf(size) {
  return Math.min(lastOf(size), Math.max(0, Math.round(page.share * size.bits)));
}

function setK(k) {
  page.share = Math.min(lastOf(sizeNow()), Math.max(0, k)) / sizeNow().bits;
  drawNow();
}

function chooseSize(place) {
  page.place = place;
  drawNow();
  byId('sizes').children[place].focus();
}

/** The widest size there is up to 64 bits, with its default k: what one sees first. */
function chooseFirst() {
  const { sizes } = page.recipe;
  const fitting = sizes.findLastIndex(({ bits }) => bits <= 64);
  page.place = Math.max(0, fitting);
  page.share = sizeNow().k / sizeNow().bits;
}

/** Say everything in the present language. */
function drawPage() {
  drawShell();
  const pairs = (wanted) => data.kinds.reduce((sum, [, isDuplicate, count]) => sum + (isDuplicate === wanted ? count : 0), 0);
  byId('facts').textContent = [
    t('facts', data.texts, pairs(true), pairs(false), pairs(null)),
    data.repeated ? t('repeated', data.repeated) : '',
    data.draws > 1 ? t('draws', data.draws) : '',
  ].filter(Boolean).join(page.language === 'zh' ? '' : ' ');
  byId('recipes').hidden = recipes.length < 2;
  byId('recipe').replaceChildren(...recipes.map(({ name }, place) => make('option', { value: place }, name)));
  byId('recipe').value = String(recipes.indexOf(page.recipe));
  byId('legend').replaceChildren(
    ...MEASURES.map((measure) => make('span', { class: `key ${measure}` }, t('measures')[measure])),
    ...['duplicates', 'others'].map((name) => make('span', { class: `key area ${name}` }, t(name))));
  byId('method').textContent = [
    t('method'), page.recipe.without ? t('without', page.recipe.without) : '',
  ].filter(Boolean).join(page.language === 'zh' ? '' : ' ');
  drawNow();
}

/** Show the chosen size and k. */
function drawNow() {
  const size = sizeNow();
  const k = kOf(size);
  drawSizes();
  byId('caption').textContent = t('caption', page.recipe.name, size.bits);
  const { width } = byId('curves').getBoundingClientRect();
  const chart = chartOf(size, k, Math.max(280, Math.round(width)));
  byId('curves').setAttribute('viewBox', `0 0 ${Math.max(280, Math.round(width))} ${chart.height}`);
  byId('curves').replaceChildren(...chart.parts);
  page.kAt = chart.kAt;
  Object.assign(byId('k'), { max: lastOf(size), value: k });
  byId('k').setAttribute('aria-label', t('slider', size.bits));
  byId('k').setAttribute('aria-valuetext', t('kNow', k, size.bits, percent(size.alike[k])));
  byId('marks').replaceChildren(...MARKS.filter((mark) => size[mark] !== null).map((mark) => make('button', {
    type: 'button', 'aria-pressed': String(size[mark] === k), onclick: (event) => {
      setK(size[mark]);
      byId('marks').querySelector(`[data-mark=${event.currentTarget.dataset.mark}]`).focus();
    }, 'data-mark': mark,
  }, t('marks')[mark](size[mark]))));
  drawTable(size, k);
  drawEvery();
  drawKinds(size);
}

/** A small picture of each size, which chooses it. */
function drawSizes() {
  byId('sizes').replaceChildren(...page.recipe.sizes.map((size, place) => make('button', {
    type: 'button', 'aria-pressed': String(place === page.place), onclick: () => chooseSize(place),
  },
  thumbnailOf(size, kOf(size)),
  make('b', {}, t('bitsOf', size.bits)), ' ',
  make('span', { class: 'note' }, t('f1At', kOf(size), shareOf(size.curve.f1[0][kOf(size)]))))));
}

function rowsOf(head, rows) {
  return [
    make('thead', {}, make('tr', {}, head.map((each) => make('th', { scope: 'col' }, each)))),
    make('tbody', {}, rows.map(({ name, cells, state }) => make('tr', { class: state ?? null },
      make('th', { scope: 'row' }, name), cells.map((each) => make('td', {}, each))))),
  ];
}

/** The accuracy at the chosen k beside theory and the answers of verified scans. */
function drawTable(size, k) {
  const head = [t('measure'), t('atK', k), t('theory'), t('cosine'), t('verifiedAnswer')];
  byId('now').replaceChildren(...rowsOf(head, MEASURES.map((measure) => ({
    name: make('span', { class: `key ${measure}` }, t('measures')[measure]),
    cells: [
      intervalOf(size.curve[measure].map((ends) => ends[k])),
      [shareOf(size.predicted[measure][k])],
      intervalOf(size.cosine[measure]),
      intervalOf(size.verified[measure]),
    ],
  }))));
  byId('meaning').textContent = t('meaning', t('kNow', k, size.bits, percent(size.alike[k])), percent(size.similarity), percent(size.ownShare));
}

/** Every size at the same share of its bits. */
function drawEvery() {
  const head = [t('size'), 'k', ...MEASURES.map((measure) => t('measures')[measure]), t('verifiedF1')];
  byId('every').replaceChildren(make('caption', {}, t('everySize', percent(page.share))), ...rowsOf(head, page.recipe.sizes.map((size, place) => ({
    name: t('bitsOf', size.bits),
    state: place === page.place ? 'chosen' : null,
    cells: [`${kOf(size)}`, ...MEASURES.map((measure) => shareOf(size.curve[measure][0][kOf(size)])), shareOf(size.verified.f1[0])],
  }))));
}

/** How many pairs of each kind are found at the default k, by cosine, and by verified scans. */
function drawKinds(size) {
  const head = [t('kindOf'), t('pairs'), t('atK', size.k), t('cosine'), t('verifiedAnswer')];
  const rows = data.kinds.map(([kind, isDuplicate, pairs], place) => ({ kind, isDuplicate, pairs, place }));
  const order = [true, false, null].flatMap((wanted) => rows.filter(({ isDuplicate }) => isDuplicate === wanted));
  byId('kinds').replaceChildren(make('caption', {}, t('kindsFound', size.bits)), ...rowsOf(head, order.map(({ kind, isDuplicate, pairs, place }) => ({
    name: [make('bdi', {}, kind), make('span', { class: 'note' }, ` ${t('labels')[String(isDuplicate)]}`)],
    cells: [number(pairs), ...size.found.map((found) => percent(found[place] / pairs))],
  }))));
}

function onKey({ key, target, ctrlKey, metaKey, altKey }) {
  if (ctrlKey || metaKey || altKey || target.matches('select')) return;
  const mark = { d: 'k', b: 'best' }[key];
  if (mark) setK(sizeNow()[mark]);
}

/** Move k to where the pointer is in the picture. */
function onPointer(event) {
  if (event.type === 'pointermove' && !event.buttons) return;
  setK(page.kAt(event.clientX - byId('curves').getBoundingClientRect().left));
}

function start() {
  listenToShell(drawPage);
  byId('k').addEventListener('input', () => setK(Number(byId('k').value)));
  byId('recipe').addEventListener('change', () => {
    page.recipe = recipes[Number(byId('recipe').value)];
    page.place = Math.min(page.place, page.recipe.sizes.length - 1);
    drawPage();
  });
  for (const name of ['pointerdown', 'pointermove']) byId('curves').addEventListener(name, onPointer);
  document.addEventListener('keydown', onKey);
  window.addEventListener('resize', drawNow);
  chooseFirst();
  drawPage();
}

start();
