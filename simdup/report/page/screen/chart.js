// Accuracy by k as a picture: curves with their intervals, and how far pairs are apart.

const MEASURES = ['f1', 'precision', 'recall', 'accuracy'];

// Of so many of the bits the picture shows; beyond it no threshold is of use.
const SPAN = 0.75;

// Pixels around the curves, and of the strip with the distances below them.
const SPACE = { left: 36, right: 12, top: 8, bottom: 38, strip: 56 };

/** The last k that a picture of this size shows. */
function lastOf({ bits, k, best, recommended }) {
  return Math.min(bits, Math.max(Math.ceil(bits * SPAN), k, best, recommended ?? 0));
}

/** A line through the values that there are; x and y turn places and shares into pixels. */
function lineOf(values, last, x, y) {
  let isOn = false;
  return values.slice(0, last + 1).map((value, k) => {
    const step = value === null ? '' : `${isOn ? 'L' : 'M'}${x(k).toFixed(1)} ${y(value).toFixed(1)}`;
    isOn = value !== null;
    return step;
  }).join('');
}

/** The area between the lower and the upper ends of intervals, where they are known. */
function bandOf([, low, high], last, x, y) {
  const known = low.map((_, k) => k).filter((k) => k <= last && low[k] !== null && high[k] !== null);
  if (!known.length) return '';
  const points = [...known.map((k) => [k, low[k]]), ...known.toReversed().map((k) => [k, high[k]])];
  return `M${points.map(([k, share]) => `${x(k).toFixed(1)} ${y(share).toFixed(1)}`).join('L')}Z`;
}

/** A large picture of one size, so wide as there is room, with a line at this k. */
function chartOf(size, k, width) {
  const last = lastOf(size);
  const height = Math.round(Math.min(380, Math.max(250, width * 0.5)));
  const floor = height - SPACE.bottom - SPACE.strip;
  const x = (at) => SPACE.left + (at / last) * (width - SPACE.left - SPACE.right);
  const y = (share) => floor - share * (floor - SPACE.top);
  const at = x(k);
  return {
    height,
    parts: [
      ...gridOf(x, y, width),
      ...stripOf(size, last, x, floor + SPACE.strip),
      ...axisOf(last, x, height - SPACE.bottom),
      draw('text', { class: 'unit', x: width - SPACE.right, y: height - 7, 'text-anchor': 'end' }, t('distanceAxis')),
      draw('line', { class: 'threshold', x1: at, x2: at, y1: SPACE.top, y2: height - SPACE.bottom }),
      ...MEASURES.toReversed().flatMap((measure) => [
        draw('path', { class: `band ${measure}`, d: bandOf(size.curve[measure], last, x, y) }),
        draw('path', { class: `curve ${measure}`, d: lineOf(size.curve[measure][0], last, x, y) }),
      ]),
      ...MEASURES.filter((measure) => size.curve[measure][0][k] !== null).map((measure) =>
        draw('circle', { class: measure, cx: at, cy: y(size.curve[measure][0][k]), r: 3.5 })),
    ],
    // The k at a place from the left, in pixels.
    kAt: (pixels) => Math.round(((pixels - SPACE.left) / (width - SPACE.left - SPACE.right)) * last),
  };
}

function gridOf(x, y, width) {
  return [0, 0.25, 0.5, 0.75, 1].flatMap((share) => [
    draw('line', { class: 'grid', x1: SPACE.left, x2: width - SPACE.right, y1: y(share), y2: y(share) }),
    draw('text', { x: SPACE.left - 5, y: y(share) + 4, 'text-anchor': 'end' }, shareOf(share, 2)),
  ]);
}

/** How many of the duplicates, and of the other pairs, are at each distance: areas in a strip. */
function stripOf({ tally }, last, x, floor) {
  const most = Math.max(...tally.flat()) || 1;
  const y = (share) => floor - (share / most) * (SPACE.strip - 14);
  return tally.map((shares, place) => draw('path', {
    class: place ? 'duplicates' : 'others',
    d: `${lineOf(shares, last, x, y).replace('M', `M${x(0).toFixed(1)} ${floor}L`)}L${x(last).toFixed(1)} ${floor}Z`,
  }));
}

function axisOf(last, x, floor) {
  const step = [1, 2, 4, 5, 8, 10, 16, 20, 25, 32, 50, 64, 100, 128, 200, 250, 500, 1000].find((each) => last / each <= 9) ?? 2000;
  const ticks = Array.from({ length: Math.floor(last / step) + 1 }, (_, place) => place * step);
  return [
    draw('line', { class: 'axis', x1: x(0), x2: x(last), y1: floor, y2: floor }),
    ...ticks.flatMap((k) => [
      draw('line', { class: 'axis', x1: x(k), x2: x(k), y1: floor, y2: floor + 3 }),
      draw('text', { x: x(k), y: floor + 15, 'text-anchor': 'middle' }, `${k}`),
    ]),
  ];
}

/** A small picture of one size, without words. */
function thumbnailOf(size, k) {
  const last = lastOf(size);
  const x = (at) => 2 + (at / last) * 156;
  const y = (share) => 78 - share * 74;
  return draw('svg', { viewBox: '0 0 160 80', 'aria-hidden': 'true' },
    draw('line', { class: 'axis', x1: 2, x2: 158, y1: 78, y2: 78 }),
    draw('line', { class: 'threshold', x1: x(k), x2: x(k), y1: 2, y2: 78 }),
    MEASURES.toReversed().map((measure) => draw('path', { class: `curve ${measure}`, d: lineOf(size.curve[measure][0], last, x, y) })));
}

/** A share in three digits, as in the table of the command line: 1.000 only of what is whole. */
function shareOf(share, digits = 3) {
  if (share === null || share === undefined) return '–';
  const most = 1 - 6 * 10 ** (-digits - 1);
  return share === 1 ? share.toFixed(digits) : Math.min(share, most).toFixed(digits);
}

/** A share with its interval: [value, low, high]. */
function intervalOf([value, low, high]) {
  if (value === null) return ['–'];
  return [`${shareOf(value)} `, make('span', { class: 'note' }, `${shareOf(low)}–${shareOf(high)}`)];
}
