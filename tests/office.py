"""An office whose files repeat each other in every way, for tests and pictures of the page."""

from __future__ import annotations

import os
import random

VOCABULARY = (
    "harbour boat hall heating meter season crane key gate winter storage mooring berth letter"
    " council regatta talk slides minutes price lease insurance fuel dock hours club evening crew"
    " engine sail rope anchor tide lamp paint brush timber plank roof window door garden fence tree"
)
BOATS = "Seagull", "Morning Star", "Little Otter", "Teal", "Wren", "Kittiwake"

BEFORE = """Invoice for the heating of the boat hall in March

The harbour office lets the boat hall to the sailing club from October to April.

The heating of the boat hall ran on 26 days in March.

The meter was read on the last day, together with the harbour office."""

AFTER = """Please quote the number of the hall with your payment.

Whoever pays by the middle of the month need not pay the fee for reminders.

The hall is aired every morning, and the gate is locked at ten in the evening.

Boats that are still wet stay outside until the afternoon."""

END = """Questions about the reading are answered at the counter.

The harbour office is open on weekdays from 8 to 12."""

INVOICE = """The amount for March is {} euros, payable within 30 days.

It includes the basic charge of {} euros{}."""


def make_office(folder):
    """An office with copies on a stick and in Downloads, near files, a form and related texts."""
    draw, words = random.Random(4), VOCABULARY.split()

    def text(paragraphs):
        lines = (" ".join(draw.choices(words, k=12)) for _ in range(paragraphs))
        return "\n\n".join(line.capitalize() + "." for line in lines)

    def write(path, content, day):
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(content, "utf-8")
        os.utime(place, (1_740_000_000 + 86_400 * day,) * 2)

    for number in range(12):
        first, second = draw.sample(words, 2)
        name, content = f"{first.title()} {second}.txt", text(9)
        write(f"Office/2025/{name}", content, number)
        if number < 8:
            write(f"USB stick (E)/2025/{name}", content, number)
        elif number < 10:
            write(f"Downloads/{name[:-4]} (1).txt", content, number + 2)
        elif number == 10:
            write(f"Downloads/{name}", "\ufeff" + content, number)
    write("USB stick (E)/2025/Regatta.txt", text(9), 3)
    write("USB stick (E)/Talks/Slides.txt", text(9), 3)
    new = INVOICE.format("412.50", "61.40", ", raised in January")
    last = "This invoice replaces the one of 28 March."
    final = f"{BEFORE}\n\n{new}\n\n{AFTER}\n\n{last}\n\n{END}"
    draft = "\n\n".join((BEFORE, INVOICE.format("397.10", "46.00", ""), AFTER, END))
    write("Office/Heating invoice March final.txt", final, 40)
    write("Office/Heating invoice March.txt", draft, 35)
    write("USB stick (E)/Heating invoice March final.txt", final, 40)
    terms = text(12)
    write("Office/Boat hire terms.txt", terms, 9)
    write("Downloads/Boat hire terms.txt", terms.replace("\n\n", "\n"), 11)
    _write_others(text, write, draw)


def _write_others(text, write, draw):
    """A form, which each boat fills in, and two related texts."""
    intro, outro = text(4), text(4)
    for number, boat in enumerate(BOATS, 7):
        rent, day = draw.choice(("1,180.00", "940.00", "760.50")), draw.randint(1, 28)
        filled = f"For the boat {boat} the office lets berth {number:02} for {rent} euros."
        contract = "\n\n".join((intro, filled, outro, f"East harbour, {day} April 2025"))
        write(f"Office/Contracts/Berth contract {number:02}.txt", contract, number)
    common = text(9)
    write("Office/Talk.txt", f"{common}\n\n{text(10)}", 1)
    write("Office/Story.txt", f"{common}\n\n{text(13)}", 1)
