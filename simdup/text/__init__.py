"""Bytes in, text and code points out.

Read `encodings` first: it finds the encoding of some bytes and decodes them. `east_asian`
decides between GBK, Big5 and their relatives, `scripts` knows Thai and kana by the order of their
bytes, and `escapes` reads ISO-2022 and UTF-7. `unicode` folds text to code points, `spelling`
undoes what spelling and damage add to words, `jieba_words` cuts Chinese into words, and `chunking`
batches short texts and cuts long ones.
"""
