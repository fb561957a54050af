// The scores of files with their representatives: bars by kind, and the threshold as a line.

const PLOT = { left: 6, right: 454, top: 16, bottom: 126 };

/** The members but the first ones, in bins of so many per cent of their share. */
function binned(from, step) {
  const bins = Array.from({ length: Math.ceil((100 - from) / step) + 1 }, () => ({ all: 0 }));
  for (const group of groups) {
    for (const member of group.members.slice(1)) {
      const bin = bins[Math.max(0, Math.floor((member.share * 100 - from) / step + 1e-9))];
      bin[member.kind] = (bin[member.kind] ?? 0) + 1;
      bin.all += 1;
    }
  }
  return bins;
}

function drawHistogram() {
  byId('histogram').closest('figure').hidden = !groups.length;
  const threshold = data.nearFrom ?? LEAST;
  const least = groups.reduce((low, group) => Math.min(low, group.least), threshold ?? 1);
  const from = Math.max(0, Math.floor(least * 20 - 1e-9) * 5 - 5);
  const step = from < 30 ? 2 : 1;
  const bins = binned(from, step);
  const most = Math.max(1, ...bins.map((bin) => bin.all));
  const width = (PLOT.right - PLOT.left) / bins.length;
  const x = (share) => PLOT.left + ((share * 100 - from) / step) * width;
  byId('caption').textContent = t('histogram', `${from} %`);
  byId('histogram').replaceChildren(
    ...bins.flatMap((bin, place) => barOf(bin, place, { most, width, from: from + place * step, step })),
    ...axis(from, x),
    ...(threshold === null ? [] : thresholdAt(threshold, x)),
  );
  // Rows have no bytes of their own.
  const told = data.page === 'rows' ? KINDS.slice(1) : KINDS;
  byId('legend').replaceChildren(...told.map((kind) =>
    make('span', { class: `kind ${classOf(kind)}` }, t('kinds')[kind])));
}

/** One bar: its kinds on top of each other; a single file can still be seen. A click shows its groups. */
function barOf(bin, place, { most, width, from, step }) {
  let top = PLOT.bottom;
  const label = t('bar', bin.all, `${from} %`);
  const show = () => showSimilarity(from, step);
  const bar = draw('g', {
    class: 'bar', role: 'button', tabindex: 0, 'aria-label': label, onclick: show, onkeydown: (event) => event.key === 'Enter' && show(),
  }, draw('title', {}, label), draw('rect', {
    class: 'space', x: PLOT.left + place * width, y: PLOT.top, width, height: PLOT.bottom - PLOT.top,
  }));
  for (const kind of KINDS.toReversed()) {
    if (!bin[kind]) continue;
    const height = Math.max(1.5, (bin[kind] / most) * (PLOT.bottom - PLOT.top));
    top -= height;
    bar.append(draw('rect', {
      class: classOf(kind), x: PLOT.left + place * width + 0.5, y: top, width: width - 1, height,
    }));
  }
  return bin.all ? [bar] : [];
}

/** Show the groups with files of this score in per cent, and go to them. */
function showSimilarity(from, step) {
  byId('low').value = from;
  byId('high').value = from >= 100 ? 100 : Math.min(99.9, from + step - 0.1);
  showView('groups');
  byId('list').focus({ preventScroll: true });
}

function axis(from, x) {
  const ticks = [];
  for (let at = Math.ceil(from / 10) * 10; at <= 100; at += 10) {
    const middle = x(at / 100) + (at === 100 ? 3 : 0);
    ticks.push(draw('line', { class: 'axis', x1: middle, x2: middle, y1: PLOT.bottom, y2: PLOT.bottom + 3 }));
    const anchor = at === 100 ? 'end' : at === from ? 'start' : 'middle';
    ticks.push(draw('text', { x: at === 100 ? PLOT.right : middle, y: PLOT.bottom + 15, 'text-anchor': anchor }, `${at} %`));
  }
  const base = { class: 'axis', x1: PLOT.left, x2: PLOT.right, y1: PLOT.bottom, y2: PLOT.bottom };
  return [draw('line', base), ...ticks];
}

function thresholdAt(share, x) {
  const at = x(share);
  const anchor = share > 0.8 ? 'end' : 'start';
  return [
    draw('line', { class: 'threshold', x1: at, x2: at, y1: 4, y2: PLOT.bottom }),
    draw('text', { class: 'threshold', x: at + (share > 0.8 ? -5 : 5), y: 12, 'text-anchor': anchor },
      t(data.nearFrom ? 'nearFrom' : 'threshold', percent(share))),
  ];
}

/** The class of a kind: bytes, text or near. */
const classOf = (kind) => kind.split(' ').at(-1);
