"""Groups of files in, a plan out, and then the files of the plan gone where it says.

records.py      a file exactly as it was seen, an action, a plan
plan.py         plans in files: JSON Lines that a person may read and cut
rules.py        which of several files is kept
protection.py   which files may not be touched
candidates.py   the files of a result as they are now
similarity.py   how similar they are now
decide.py       which files of a group go, and for which other one
folders.py      whole folders that go
planning.py     all of these together: the plan of a result
narrow.py       what the command line allows of a plan file
limits.py       plans that are too large to be meant
refusals.py     why a file is left as it is
system.py       folders reached through no link, and renames that overwrite nothing
trash.py        the trash of a file system, and names in it
"""
