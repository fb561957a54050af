"""Turns a result into one self-contained HTML page, which makes no network request.

Read `payload` (the data of the page) and `contents` (its texts) first, then `render`, which
puts them together with page.html, page.css and the scripts beside it.
"""
