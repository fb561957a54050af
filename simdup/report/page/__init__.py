"""A result as one page of HTML that needs nothing else: no request leaves it.

`payload` and `contents` make what the page is given, `render` puts it together with
the page itself: page.html, page.css and the scripts, which lie beside.
"""
