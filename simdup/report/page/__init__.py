"""Turns a result into one self-contained HTML page, which makes no network request.

Read `render` first: it collects data and texts, and puts them into page.html together with
page.css and the scripts. data.js is where the scripts read the data.
"""
