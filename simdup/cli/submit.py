"""`simdup corpus scan --engine spark` as a file for spark-submit, with the same arguments.

spark-submit SITE-PACKAGES/simdup/cli/submit.py hdfs:///pages/*.jsonl --output hdfs:///out
"""

from __future__ import annotations

import sys

from simdup.cli import main

if __name__ == "__main__":
    main(["corpus", "scan", "--engine", "spark", *sys.argv[1:]])
