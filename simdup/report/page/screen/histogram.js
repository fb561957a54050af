// How much of the files is in the kept file of their group: bars by sort, and the threshold as a line.

const PLOT = { left: 6, right: 454, top: 16, bottom: 126 };

// From the top of a bar to its bottom.
const STACKED = ['near', 'words', 'identical'];

/** The members but the first ones, in bins of so many per cent of their share. */
function binned(list, from, step) {
  const bins = Array.from({ length: Math.ceil((100 - from) / step) + 1 }, () => ({ all: 0 }));
  for (const { members } of list) {
    for (const { share, sort } of members.slice(1)) {
      const bin = bins[Math.max(0, Math.floor((share * 100 - from) / step + 1e-9))];
      bin[sort] = (bin[sort] ?? 0) + 1;
      bin.all += 1;
    }
  }
  return bins;
}

function histogram() {
  const list = every.filter(({ kind, members }) => kind !== RELATED && members.length > 1);
  if (!list.length) return null;
  const least = Math.min(LEAST ?? 1, ...list.map(({ members }) => Math.min(...members.map(({ share }) => share))));
  const from = Math.max(0, Math.floor(least * 20 - 1e-9) * 5 - 5);
  const step = from < 30 ? 2 : 1;
  const bins = binned(list, from, step);
  const most = Math.max(...bins.map(({ all }) => all));
  const width = (PLOT.right - PLOT.left) / bins.length;
  const x = (share) => PLOT.left + ((share * 100 - from) / step) * width;
  return make('figure', {}, make('figcaption', { id: 'caption', class: 'note' }, t('histogram', `${from}\u00a0%`)),
    draw('svg', { id: 'histogram', role: 'group', 'aria-labelledby': 'caption', viewBox: '0 0 460 150' },
      bins.map((bin, place) => barAt(bin, place, { most, width, from: from + place * step })), axis(from, x), LEAST === null ? [] : thresholdAt(LEAST, x)),
    make('p', { class: 'legend note' }, STACKED.toReversed().map((sort) => [sign(sort), t('sorts')[sort]])));
}

/** One bar: its sorts on top of each other; a single file can still be seen. */
function barAt(bin, place, { most, width, from }) {
  if (!bin.all) return null;
  let top = PLOT.bottom;
  const pieces = STACKED.filter((sort) => bin[sort]).toReversed().map((sort) => {
    const height = Math.max(1.5, (bin[sort] / most) * (PLOT.bottom - PLOT.top));
    top -= height;
    return draw('rect', { class: sort, x: PLOT.left + place * width + 0.5, y: top, width: width - 1, height });
  });
  return draw('g', { role: 'img', 'aria-label': t('bar', bin.all, `${from}\u00a0%`) }, draw('title', {}, t('bar', bin.all, `${from}\u00a0%`)), pieces);
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
      t('threshold', percent(share))),
  ];
}
