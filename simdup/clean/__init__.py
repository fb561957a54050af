"""Groups of files in, a plan out; then the files of the plan go where it says.

refusals.py     why files are kept, and what a user can consent to
plan.py         a file exactly as it was seen, an action, a plan; as JSON Lines to read and cut
rules.py        which of several files is kept
protection.py   which files may not be touched
candidates.py   the files of a result as they are now
terms.py        under which consents one file may be removed for another one
decide.py       which files of a group go, and for which other one; which folders go whole
planning.py     the plan of a result, made by all modules above, and what is allowed of a plan
suggestion.py   what `clean` would remove by default, and what else it could; for the page
review.py       questions about a plan, and the plan that the answers make
apply.py        acts on a plan, in batches
checks.py       what two files are now: as the plan says, and how similar
acting.py       moves one file to the trash or elsewhere, links or deletes it; looks at it last
copying.py      copies a file whole, or lets two files share blocks
system.py       folders reached through no link, and renames that overwrite nothing
trash.py        the trash of a file system, and names in it
journal.py      a log on the disk of what a run is about to do and has done
undo.py         puts back what the run of a journal did, or finishes the run
settle.py       puts one file back, if it is as simdup left it
outcome.py      how many files were done, refused and left, and why

Results, plans and journals may come from somebody else. The user's own words are on the command
line: consents, protections, limits, --encoding and the options for acts. The fields of the files:

| field | what it is worth |
|---|---|
| **a result** | |
| `path`, `base` | taken; looked at again, reached through no link (`checks.held`) |
| `roots` | taken: nothing outside of them is touched. Whoever wants less says --only-under |
| `keep_under`, `let_go_under`, `versions` | order the files; nothing goes by them alone |
| `references`, `reference` | taken: they can only protect more |
| `size`, `mtime_ns` | checked again when planning (`protection.changed_since`) and when acting |
| `device`, `inode`, `ctime_ns` | if they differ, the bytes decide; then those of now count |
| `byte_digest` | checked again: the bytes of both files are read when one goes (`checks`) |
| `text_digest`, `words_digest` | choose what is asked; the texts are read and compared again |
| `unread` | proposes; what a file holds besides its text is read again, and a difference refused |
| `format`, `packing`, `damaged`, `short`, `features` | propose, and order the files; whether texts
  are the same or similar is told from the files as they are now (`checks.Reading`) |
| `encoding` | orders files for --prefer encoding; never used to read one |
| `doubt`, `archive` | taken: such a file stays. Asked of texts again, but not of identical bytes |
| `links` | shown; counted again when acting |
| `folders` | propose that a folder goes whole; each of its files passes all checks |
| `settings` | `verified`: without it --near is refused. All others are ignored |
| `complete`, `schema_version` | an incomplete result, or one that is too old, is refused |
| `stats.found` | taken, for the limit of half of all files; --most and --most-files hold anyway |
| `kind`, `similarity`, `own_share`, `distance`, `fingerprint`, `set`, and all others | ignored |
| **a plan** | |
| `keep`, `file`: `path`, `id`, `bytes`, `text`, `links` | as in a result |
| `words`, `whole`, `packed` | choose which consent is asked for; the texts are read again |
| `act` | needs its own option, but for the trash (`terms.consent_refusal`) |
| `kind` | ignored: the digests tell |
| `similarity` | can only leave a file (`planning.narrowed`); computed again when acting |
| `why`, `rules`, `made`, `of`, `of_digest` | shown. A folder is only said to go whole if each file
  and its copy are at the same place in both folders (`Action.folders`) |
| `roots`, `found` | as in a result |
| `protected`, `only_under`, `protected_names` | taken: they can only protect more |
| `newest` | unless a near file is said not to be the newest version, it needs --newest-too |
| `depth` | a folder is whole only if both files are at the same place in it (`Action.folders`) |
| `reviewed` | taken: a person who saw both files decided, whatever facts they have alone |
| `group`, and the order of lines | taken, for the limit of --most |
| `settings` | of earlier plans; ignored |
| **a journal** | |
| `plan` | as a plan; --resume needs all consents and options for acts again |
| `to` | must be the folder that --to names, or nothing is moved |
| `target`, `trash`, `top`, `aside`, `made` | only places where simdup puts files (`settle`) |
| `done`: `file` | the inode; size, mtime and digest must be those of the plan, too (`settle`) |
| `folder_ns` | restored if the folder has the time that the run left |
| `user`, `undoes` | refused if it is another user, or if the journal is of an undo |
| `machine` | ignored: paths, times and bytes show whether the files are here |
"""
