"""Groups of files in, a plan out; then the files of the plan go where it says.

records.py      a file exactly as it was seen, an action, a plan
plan.py         plans in files: JSON Lines that a person may read and cut
rules.py        which of several files is kept
protection.py   which files may not be touched
candidates.py   the files of a result as they are now
similarity.py   how similar they are now
decide.py       which files of a group go, and for which other one
folders.py      whole folders that go
planning.py     the plan of a result, made by all modules above
narrow.py       a plan file without what the command line forbids; plans too large to be meant
review.py       questions about a plan, and the plan that the answers make
apply.py        acts on a plan, in batches
refusals.py     why a file is left as it is
checks.py       whether two files are still what the plan says, right before one goes
acting.py       moves one file to the trash or elsewhere, links or deletes it
copying.py      copies a file whole, or lets two files share blocks
system.py       folders reached through no link, and renames that overwrite nothing
trash.py        the trash of a file system, and names in it
system_bin.py   the bin of macOS and Windows
journal.py      a log on the disk of what a run is about to do and has done
undo.py         puts back what the run of a journal did, or finishes the run
settle.py       puts one file back, if it is as simdup left it
outcome.py      how many files were done, refused and left
"""
