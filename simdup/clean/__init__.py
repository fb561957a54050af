"""Groups of files in, a plan out, and then the files of the plan gone where it says.

records.py    a file exactly as it was seen, an action, a plan
plan.py       plans in files: JSON Lines that a person may read and cut
"""
