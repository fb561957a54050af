"""Groups of files in, a plan out; then the files of the plan go where it says.

records.py      a file exactly as it was seen, an action, a plan
plan.py         plans in files: JSON Lines that a person may read and cut
rules.py        which of several files is kept
protection.py   which files may not be touched
candidates.py   the files of a result as they are now
similarity.py   how similar they are now
decide.py       which files of a group go, and for which other one
folders.py      whole folders that go
planning.py     all of these together: the plan of a result
narrow.py       what the command line allows of a plan file, and plans too large to be meant
review.py       questions about a plan, and the plan that the answers make
apply.py        a plan into what was done, in batches
refusals.py     why a file is left as it is
checks.py       whether two files are still what the plan says, right before one goes
acting.py       one file into the trash, elsewhere, or out of the way
copying.py      a file copied whole, or its blocks shared
system.py       folders reached through no link, and renames that overwrite nothing
trash.py        the trash of a file system, and names in it
system_bin.py   the bin of macOS and Windows
journal.py      what is about to be done and has been done, on the disk
undo.py         a journal into files that are where they were, or into the rest of its run
settle.py       one file back, if it is as simdup left it
outcome.py      how many were done, refused and left
"""
