"""Turns results into the lines of reports. Nothing here reads a file or prints.

Read `text` (scans for people) and `json_csv` (scans for programs, and how every report writes
JSON and CSV) first. `order` says which groups a report shows and how much space they could free.
`rows`, `query` and `accuracy` report on corpora, indexes and evaluations; `diff`, `plot` and `page`
show differences, a picture and a web page. `load` reads a saved report again; `wording` and
`terminal` write numbers, names and colours for all of them.
"""

#: Values of --sort: by which measure groups are ranked.
SORTS = ("similarity", "size", "count", "name")

#: The most groups on a terminal, unless the user asks for more.
MOST_GROUPS = 20
