// Decisions as files: a plan for `simdup clean`, a list, and commands of `simdup ignore`.

/** The plan: a header, and a line for each file that goes. */
function planOf(actions) {
  const header = {
    ...data.plan.header,
    made: `${new Date().toISOString().slice(0, 19)}+00:00`,
    of: nameIn(decodeURIComponent(location.pathname)) || 'page',
    rules: decisions.rules.flatMap((rule) => (rule.startsWith('under=') ? ['--prefer-under', rule.slice(6)] : ['--prefer', rule])),
    actions: actions.length,
  };
  const lines = actions.map(({ group, file, keep, kind, contained, why }) =>
    `{"group": ${group.id}, "keep": ${fileInPlan(keep)}, "act": "trash", "file": ${fileInPlan(file)}, `
    + `"kind": "${kind}", "contained": ${contained}, "why": ${JSON.stringify(why)}`
    + `${kind === KINDS[3] ? `, "newest": ${isNewest({ group, file })}` : ''}`
    + `${kind === KINDS[3] && why === BY_HAND ? ', "reviewed": true' : ''}}`);
  return [JSON.stringify(header), ...lines, ''].join('\n');
}

/** Whether a file has the newest version of a chain. */
function isNewest({ group, file }) {
  return Boolean(group.chain) && !placeBy(file, 'the newest version');
}

/** The command that shows what the plan would do, with the options that allow it. */
function commandOf(actions) {
  const arePlain = ({ file, keep }) => [file, keep].every(({ whole, packed }) => whole && !packed);
  const near = actions.filter(({ kind }) => kind === KINDS[3]).map(({ contained }) => contained);
  return [
    'simdup clean plan.jsonl',
    actions.some((each) => each.kind === KINDS[1] && arePlain(each)) ? '--text' : '',
    actions.some((each) => each.kind !== KINDS[0] && !arePlain(each)) ? '--formats-too' : '',
    near.length ? `--near ${Math.floor(Math.min(...near) * 100) / 100}` : '',
    actions.some((each) => each.kind === KINDS[3] && isNewest(each)) ? '--newest-too' : '',
  ].filter(Boolean).join(' ');
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

/** Every path that goes, a line each, in its exact bytes. */
function listOf(actions) {
  return actions.flatMap(({ file }) => [rawPath(file), '\n']);
}

/** Whether something was decided that a file can tell: that files go, or are no duplicates. */
const canExport = () => decisions.unrelated.size > 0 || [...decisions.of.values()].some(Boolean);

function openExport() {
  const actions = actionsOf();
  const ignored = ignoreLines();
  const plan = actions.length ? [
    exportRow('plan.jsonl', t('planIs', actions.length), [planOf(actions)]),
    commandRow(commandOf(actions)), exportRow('files.txt', t('listIs'), listOf(actions)),
  ] : null;
  const dialog = byId('exporting');
  dialog.setAttribute('aria-label', t('export'));
  replace(dialog, make('h2', {}, t('export')), make('p', {}, t('exportSays')), plan,
    ignored.length ? exportRow('ignore.sh', t('ignoreIs', ignored.length), [`${ignored.join('\n')}\n`]) : null, make('p', {}, make('button', { type: 'button', onclick: () => dialog.close() }, t('close'))));
  dialog.showModal();
}

function exportRow(name, words, pieces) {
  return make('p', {}, make('button', { type: 'button', onclick: () => download(name, pieces) }, t('save', name)),
    make('span', { class: 'note' }, ` ${words}`));
}

function commandRow(command) {
  return make('p', {}, make('code', {}, command), ' ',
    make('button', { type: 'button', onclick: () => copyText(command) }, t('copy')),
    make('span', { class: 'note' }, ` ${t('commandIs')}`));
}

function download(name, pieces) {
  const address = URL.createObjectURL(new Blob(pieces));
  make('a', { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
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
