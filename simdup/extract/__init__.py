"""Bytes of documents into text: HTML, EPUB, Word, OpenDocument, RTF, mail, PDF."""
