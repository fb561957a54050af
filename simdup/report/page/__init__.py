"""Turns a result into one self-contained HTML page, which makes no network request.

Read `render` first: it collects data and texts, and puts them into page.html together with
page.css and the scripts. data.js is where the scripts read the data.
"""

#: The languages of the page.
LANGUAGES = ("en", "zh")

#: The largest page in bytes, unless names alone take more. Texts take what the rest leaves.
LARGEST_PAGE = 20_000_000
