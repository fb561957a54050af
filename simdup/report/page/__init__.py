"""Turns a result into one self-contained HTML page, which makes no network request.

`render` collects the data and the texts, and puts them into page.html with page.css and the
scripts. Of these read data.js first.
"""
