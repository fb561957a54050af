"""Documents in, text out: HTML, Word, OpenDocument, e-books, mail, RTF, PDF and marked-up text.

Read `sniff` first: it tells the format of a file by its content. `readers` calls the reader
of that format, in a process of its own where a hostile file could do harm (`sandbox`), and
`cleanup` tidies the text. `convert` runs the programs that a user names.
"""
