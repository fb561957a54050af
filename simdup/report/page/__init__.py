"""Turns results into self-contained HTML pages, which make no network request.

Read `frame` first: it puts data and texts into page.html, with a main part, page.css and scripts.
`groups` has what every page of groups says, and `render` the page of a scan. shell.js is where the
scripts read the data.
"""

#: The languages of the page.
LANGUAGES = ("en", "zh")

#: The largest page in bytes, unless names alone take more. Texts fill the remaining room.
LARGEST_PAGE = 20_000_000
