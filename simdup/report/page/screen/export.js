// The end: the plan as a file for `simdup clean`, in three steps, and a last look at near files that are removed.

/** The plan: a header, and a line for each file that is removed. */
function planOf(actions) {
  const { options } = orderNow();
  const header = { ...data.plan.header, made: `${new Date().toISOString().slice(0, 19)}+00:00`, of: nameOfPage(), rules: options, actions: actions.length };
  const lines = actions.map(({ group, file, keep, kind, contained, needs, why, hand, depth }) =>
    `{"group": ${group.id}, "keep": ${fileInPlan(keep)}, "act": "trash", "file": ${fileInPlan(file)}, `
    + `"kind": "${kind}", "contained": ${contained}, "why": ${JSON.stringify(why)}`
    + `${kind === KINDS[3] ? `, "newest": ${needs.includes('--newest-too')}` : ''}`
    + `${hand ? ', "reviewed": true' : ''}${depth ? `, "depth": ${depth}` : ''}}`);
  return [JSON.stringify(header), ...lines, ''].join('\n');
}

/** The name of the page's own file; bytes that are no UTF-8 stay as they are in its address. */
function nameOfPage() {
  const name = location.pathname.split('/').pop();
  try {
    return decodeURIComponent(name) || 'page';
  } catch {
    return name;
  }
}

/** The command that shows what the plan would do, with the options that allow it. */
function commandOf(actions) {
  const needs = new Set(actions.flatMap((action) => action.needs));
  const near = actions.map(({ contained }) => contained).filter((contained) => contained !== null);
  const options = ['--text', '--formats-too', '--near', '--newest-too'].filter((option) => needs.has(option));
  return ['simdup clean plan.jsonl', ...options.map((option) => (option === '--near' ? `--near ${Math.max(1, Math.floor(Math.min(...near) * 100)) / 100}` : option))].join(' ');
}

/** A shell command for each group marked as not duplicates, with one file for each of its texts. */
function ignoreLines() {
  return every.filter(({ id }) => decisions.unrelated.has(id)).map(({ members }) => {
    const files = new Map(members.toReversed().map(({ file }) => [file.text, file]));
    return `simdup ignore add -- ${[...files.values()].map(quoted).join(' ')}`;
  });
}

/** A path for a shell; bytes that are no text, and controls, as bash writes them. */
function quoted(file) {
  if (!file.raw) return `'${file.shown.replaceAll("'", "'\\''")}'`;
  return `$'${[...file.raw].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('')}'`;
}

/** Whether something was decided that a file can tell: that files are removed, or are no duplicates. */
const canExport = () => decisions.unrelated.size > 0 || [...decisions.of.values()].some(Boolean);

/** Show the three steps in place of the overview. */
function openExport() {
  if (!canExport()) return;
  Object.assign(page, { tab: 'overview', part: 'all', chosen: null, isExporting: true });
  drawTabs();
  applyFilters();
  drawPlan();
  byId('overview').scrollTop = 0;
  focusOverview();
}

function exportCards() {
  const actions = actionsOf();
  const ignored = ignoreLines();
  const isDone = !leftIn('look').length && !undecided(suggestion()).length;
  const command = commandOf(actions);
  const step = (place, title, words, act) => make('li', {}, make('span', { class: 'number' }, place), make('div', {}, make('b', {}, title), make('p', {}, words)), act);
  const steps = actions.length ? make('ol', { class: 'steps' },
    step(1, t('savePlan'), t('planIs'), button(t('save', 'plan.jsonl'), () => download('plan.jsonl', [planOf(actions)]), 'main', 'a')),
    step(2, t('seePlan'), make('code', {}, command), button(t('copy'), () => copyText(command), '', null, { 'aria-label': t('copyThis', command) })),
    step(3, t('doPlan'), [make('code', {}, `${command} --apply`), make('span', { class: 'note' }, t('undoable'))], button(t('copy'), () => copyText(`${command} --apply`), '', null, { 'aria-label': t('copyThis', `${command} --apply`) }))) : null;
  return [
    hero({ mark: isDone ? [icon('check'), t('everythingDecided')] : [sign('near'), t('stillLook', leftIn('look').length)], title: actions.length ? t('planned', actions.length, size(bytesOfActions(actions))) : t('onlyIgnored'),
      lead: t(actions.length ? 'exportLead' : 'ignoreLead'), small: steps ?? button(t('save', 'ignore.sh'), () => download('ignore.sh', [`${ignored.join('\n')}\n`]), 'main', 'a'), beside: planByKind(actions, ignored) }),
    lastLook(actions),
  ];
}

const bytesOfActions = (actions) => sizeOf(actions.map(({ file }) => ({ bytes: file.size })));

/** What is in the plan, by kind; what is kept; and other files to save. */
function planByKind(actions, ignored) {
  const kinds = [['identical', [KINDS[0]]], ['words', KINDS.slice(1, 3)], ['near', [KINDS[3]]]];
  const rows = kinds.map(([sort, names]) => [sort, actions.filter(({ kind }) => names.includes(kind))]).filter(([, list]) => list.length);
  const kept = looks.reduce((sum, group) => sum + group.look.filter((place) => !goes(group, place) && !decisions.unrelated.has(group.id)).length, 0);
  return [make('h3', {}, t('inThePlan')), make('ul', { class: 'bars' }, rows.map(([sort, list]) => make('li', {}, make('span', {}, sign(sort), t('sorts')[sort].toLowerCase()),
    make('span', { class: 'note' }, dotted([t('files', list.length), size(bytesOfActions(list))])), bar([[sort, list.length]], actions.length)))),
  kept ? make('p', { class: 'kept' }, make('span', {}, t('keptAlike')), make('span', { class: 'note' }, t('files', kept))) : null,
  ignored.length ? make('p', { class: 'kept' }, make('span', {}, t('unrelated')), make('span', { class: 'note' }, t('groups', ignored.length))) : null,
  actions.length ? make('p', {}, button(t('save', 'files.txt'), () => download('files.txt', actions.flatMap(({ file }) => [rawPath(file), '\n'])), 'link')) : null,
  ignored.length && actions.length ? make('p', {}, button(t('save', 'ignore.sh'), () => download('ignore.sh', [`${ignored.join('\n')}\n`]), 'link')) : null,
  make('p', {}, button(t('clear'), clearDecisions, 'link'))];
}

/** The near files that are removed, each with what differs. */
function lastLook(actions) {
  const near = actions.filter(({ kind }) => kind === KINDS[3]);
  if (!near.length) return null;
  const list = make('ul', { class: 'looks' });
  layOut(list, near, ({ group, place }) => make('li', {}, make('button', { type: 'button', class: 'head', onclick: () => goTo('look', group, place) }, sign('near'), make('span', { class: 'title' }, nameOf(group.members[place].name)), make('span', { class: 'line' }, differenceInWords(group, place)), make('span', { class: 'figure link' }, t('compare')))), (left, onclick) => make('li', {}, button(t('more', left), onclick, 'link')));
  return [make('p', { class: 'after' }, make('b', {}, t('lastLook')), make('span', { class: 'note' }, t('lastLookNote', near.length))), make('section', { class: 'card' }, list)];
}

function download(name, pieces) {
  const address = URL.createObjectURL(new Blob(pieces));
  make('a', { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
  say(t('saved', name));
}

/** Put a text where it can be pasted from; browsers allow that of a file in one way or the other. */
async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    say(t('copied', text));
  } catch {
    say(t('notCopied', text));
  }
}

/** The address of a file on this machine, which the browser opens. */
function addressOf(file) {
  const bytes = [...rawPath(file)];
  const name = bytes.map((byte) => (/[\w./~-]/.test(String.fromCharCode(byte)) ? String.fromCharCode(byte) : `%${byte.toString(16).padStart(2, '0')}`));
  return `file://${name.join('')}`;
}
