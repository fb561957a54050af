"""Groups of files in, a plan out, and then the files of the plan gone where it says.

records.py    a file exactly as it was seen, an action, a plan
plan.py       plans in files: JSON Lines that a person may read and cut
refusals.py   why a file is left as it is
system.py     folders reached through no link, and renames that overwrite nothing
trash.py      the trash of a file system, and names in it
"""
