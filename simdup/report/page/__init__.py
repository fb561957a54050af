"""Turns results into self-contained HTML pages, which make no network request.

Read `frame` first: it puts data and texts into page.html, with a main part, page.css and scripts.
`groups` has the fields of all pages of groups, with what `differences` and `forms` find in their
texts, and `render` makes the page of a scan, with `folders` and `decisions`. What the
browser runs is in the folder `screen`, whose README says how data goes to the screen.
"""

#: The languages of the page.
LANGUAGES = ("en", "zh")

#: The largest page in bytes, unless names alone take more. Texts fill the remaining room.
LARGEST_PAGE = 20_000_000
