// Which file exactly each member is, for plans; nothing where the scan does not say it.

if (data.plan) data.plan.files.forEach((list, at) => list.forEach((fields, place) => {
  const member = every[at].members[place];
  member.file = fileOf(fields, member);
}));

function fileOf([folder, name, id, bytes, text, words, whole, packed, links, kept, base64, sort, contents, unread], member) {
  const { folders, sep } = data.plan;
  const shown = folders[folder].replace(/[\\/]?$/, sep) + name;
  const raw = base64 ? Uint8Array.from(atob(base64), (each) => each.charCodeAt(0)) : null;
  return {
    // As it is shown; `raw` has the bytes where that is not exactly the path.
    shown,
    raw,
    path: (raw ? new TextDecoder().decode(raw) : shown).replaceAll(sep, '/'),
    ...{ base64, id, bytes, text, words, links },
    // Whether all of it is text that was read.
    whole: Boolean(whole),
    packed: Boolean(packed),
    // Why it is never removed: the name of the refusal, and words; or null.
    kept: data.plan.kept[kept],
    // Whether others may be removed for it.
    mayBeKept: !kept || Boolean(data.plan.kept[kept][2]),
    // By these its terms are found: see termsOf.
    ...{ sort, contents, unread },
    size: member.bytes,
  };
}

/** The exact bytes of the path. */
function rawPath(file) {
  return file.raw ?? new TextEncoder().encode(file.shown);
}

/** A file as a line of a plan names it. The numbers are copied, since a script would round them. */
function fileInPlan(file) {
  const base64 = file.base64 ? `, "path_base64": "${file.base64}"` : '';
  const links = file.links > 1 ? `, "links": ${file.links}` : '';
  const words = file.words ? `, "words": "${file.words}"` : '';
  const whole = (file.whole ? '' : ', "whole": false') + (file.packed ? ', "packed": true' : '');
  return `{"path": ${JSON.stringify(file.shown)}${base64}, "id": [${file.id}], "bytes": "${file.bytes}", "text": "${file.text}"${words}${whole}${links}}`;
}
