"""German mails, recipes and paragraphs of law with marked spans, and three annotators.

Texts are made of templates, the same by the same seed: dates with ordinals,
abbreviations, compounds of which a part is marked, prices, addresses, emoji, quotes,
e-mail addresses, wrapped lines. The annotators are careful people: they leave out,
mislabel or misplace a few spans each. Their work is written as Label Studio, doccano
and brat write it, without the package.
"""

from __future__ import annotations

import json
import random
import re
import zipfile
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = [
    "ANNOTATORS",
    "Marked",
    "Span",
    "laws",
    "mails",
    "recipes",
    "write_brat",
    "write_doccano",
    "write_tasks",
]

Span = tuple[int, int, str]
ANNOTATORS = ("anna", "ben", "cem")

#: What stands for a name in braces, with its label; None where it has none.
POOLS: dict[str, tuple[str | None, Sequence[str]]] = {
    "person": (
        "PER",
        ["Dr. med. Weiß", "Anna Groß", "Prof. Dr. Jürgen Öztürk", "Hr. Schäfer",
         "Frau Dr. h. c. Krämer", "Jean-Luc Müller", "Ömer Çelik", "Dipl.-Ing. Bäcker",
         "K. Lindner", "Franz v. Bülow", "Maria", "Uwe", "Sigrid Ångström"],
    ),
    "carrier": ("ORG", ["Telekom", "Vodafone", "Post", "Bahn", "O2", "DHL", "EnBW"]),
    "company": (
        "ORG",
        ["Müller & Söhne GmbH", "Weber u. Co. KG", "Fa. Groß", "1&1", "Stadtwerke Ulm",
         "Bäckerei Jäger e. K.", "Gebr. Löwe", "ÖkoStrom AG", "Sanitär Kühn"],
    ),
    "date": (
        "DATE",
        ["3. Mai", "1. Januar 2023", "24.12.2022", "Mo., 5. Juni", "12. Okt. 2021",
         "31. August", "03.05.", "2. März 2024", "19. Jahrhundert", "28. Feb.",
         "Montag, den 7. November", "1. Advent", "15. September 2020", "3.-5. Mai"],
    ),
    "price": (
        "MONEY",
        ["49,99 €", "1.200 Euro", "EUR 12,50", "5 Mio. Euro", "ca. 300 €", "19 Euro",
         "2.450,- €", "max. 80 Euro"],
    ),
    "place": (
        "LOC",
        ["Bad Tölz", "Köln", "Frankfurt a. M.", "St. Gallen", "Zürich", "Hauptstr. 5",
         "Bahnhofstraße 12 a, 80335 München", "Halle (Saale)", "Am Alten Markt 3",
         "Goethestr. 17, 04109 Leipzig", "Rothenburg o. d. T."],
    ),
    "mail": ("MAIL", ["info@groß-und-klein.example", "a.kraemer@post.example",
                      "service+kunde@telekom.example", "uwe_b@web.example"]),
    "thing": (None, ["Rechnung", "Lieferung", "Bestellung", "Kündigung", "Mahnung"]),
    "smile": (None, ["😊", "👍🏽", "🙏", "👨‍👩‍👧", "🎉🎉"]),
    "number": (None, ["4711", "88/2", "A-1093", "2023-17"]),
    "food": (
        "FOOD",
        ["2 tbsp. Sugar", "8 oz. Butter", "1 1/2 c. Flour", "1 tsp. Vanilla Extract",
         "½ lb. ground Beef", "3 lg. Eggs", "1 pkg. Yeast", "2 qt. Chicken Stock",
         "12 fl. oz. Milk", "1 Tbsp. Olive Oil", "4 oz. Cheddar", "crème fraîche",
         "a pinch of Salt", "6 oz. jalapeños", "1 pt. Cream"],
    ),
    "time": ("TIME", ["20 min.", "1 hr.", "1 hr. 30 min.", "overnight", "45 minutes"]),
    "heat": ("TEMP", ["350 °F", "180 °C", "med. Heat", "400°F"]),
    "brand": ("BRAND", ["Pyrex", "Dr. Oetker", "Kraft", "Ben & Jerry's"]),
    "rule": (
        "RULE",
        ["§ 5 Abs. 2 Satz 1 Nr. 3 BGB", "Art. 5 Abs. 1 GG", "§§ 433 ff. BGB",
         "§ 312g Abs. 2 S. 1 Nr. 9 BGB", "Art. 6 Abs. 1 UAbs. 1 lit. f DSGVO",
         "§ 1 Abs. 3 i. V. m. § 2 Nr. 4 KSchG", "Abs. 2", "§ 5", "Nr. 7 Buchst. b",
         "§ 24 Abs. 1 S. 2 Hs. 2 StVG", "Rn. 17", "Anl. 3 zu § 8 EStG"],
    ),
    "court": (
        "COURT",
        ["BGH", "OLG Köln", "LG Frankfurt a. M.", "BVerfG", "AG Bad Tölz", "EuGH",
         "VG Neustadt a. d. W."],
    ),
    "case": (
        "CASE",
        ["Urt. v. 3. Mai 2019 – VI ZR 12/18", "Az. 3 O 12/20", "Beschl. v. 1. 2. 2021",
         "Az. 2 BvR 1436/02", "BGHZ 123, 45 [47 f.]"],
    ),
}  # fmt: skip

MAILS = [
    "Am {date} war Ihr {carrier}-Techniker bei uns in {place}, leider ohne Erfolg.",
    "Die {thing} über {price} vom {date} ist bis heute offen.",
    "Bitte rufen Sie {person} an oder schreiben Sie an {mail} {smile}",
    "Wir treffen uns z. B. am {date} in {place}, d. h. später als geplant.",
    "Unser {company}-Vertrag (Nr. {number}) läuft seit dem {date}.",
    "„{company}“ hat den Preis von {price} auf {price} erhöht!",
    "Lt. {person} zahlen {carrier}kunden ab dem {date} nur noch {price}.",
    "Herzliche Grüße aus {place} {smile}",
    "{person} kommt am {date}. Danach fahren wir u. a. nach {place}.",
    "Der Ex-{carrier}-Chef {person} (Tel. 030/12345) bat um die {thing} Nr. {number}.",
    "Haben Sie die {thing} vom {date} erhalten? {person} meint: nein.",
    "Das Konto der {company} ist seit {date} gesperrt, vgl. Anlage 2.",
    "Bis zum {date} sind {price} fällig.",
]
RECIPES = [
    "Preheat the oven to {heat}. Mix {food} with {food}.",
    "Add {food} and {food}. Stir for {time}",
    "Bake for {time} in a {brand}-style pan (approx. 9 in. wide).",
    "Let it stand {time}. Serve with {food}!",
    "- {food}",
    "- {food}, softened",
    "- {food} ({brand})",
    "Melt {food} over {heat}, then fold in {food}.",
    "Don't use {brand}'s mix. Whisk {food} first, cf. p. 12.",
]
LAWS = [
    "Nach {rule} haftet der Schuldner, soweit nicht {rule} etwas anderes bestimmt.",
    "Das {court} ({case}) lässt dies offen.",
    "Gem. {rule} gilt dies auch f. Kaufleute, vgl. {rule}.",
    "Der Anspruch aus {rule} verjährt am {date}. Dies ist st. Rspr. des {court}.",
    "Abweichend hiervon: {court}, {case}, {rule}.",
    "Eine {rule}-Prüfung entfällt z. B. dann, wenn {rule} greift.",
    "Die Frist endet mit Ablauf des {date}; {rule} bleibt unberührt.",
]
_SLOT = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Marked:
    """A text with its true spans and what each annotator marked."""

    id: str
    text: str
    truth: tuple[Span, ...]
    said: tuple[tuple[Span, ...], ...] = ()  # one per annotator

    @property
    def unanimous(self) -> set[Span]:
        """Spans that all annotators marked, to the character."""
        return set.intersection(*map(set, self.said))


def mails(size: int = 120) -> list[Marked]:
    """German mails, half of them with wrapped lines."""
    dice = random.Random(1)
    return [annotated(str(n), *_mail(dice), dice) for n in range(1, size + 1)]


def recipes(size: int = 60) -> list[Marked]:
    """Recipes in English, an ingredient or a step a line."""
    dice = random.Random(2)
    lines = (dice.choices(RECIPES, k=dice.randint(5, 9)) for _ in range(size))
    made = (_filled("\n".join(one), dice) for one in lines)
    return [annotated(str(n), *one, dice) for n, one in enumerate(made, 1001)]


def laws(size: int = 40) -> list[Marked]:
    """Paragraphs of German law."""
    dice = random.Random(3)
    made = (_filled(" ".join(dice.choices(LAWS, k=4)), dice) for _ in range(size))
    return [annotated(str(n), *one, dice) for n, one in enumerate(made, 2001)]


def _mail(dice: random.Random) -> tuple[str, list[Span]]:
    greeting = dice.choice(["Sehr geehrte Damen und Herren,", "Hallo {person},",
                            "Lieber {person},"])  # fmt: skip
    body = " ".join(dice.choices(MAILS, k=dice.randint(3, 6)))
    end = "{person}\n{company}\n{place}" if dice.random() < 0.5 else "{person}"
    whole = f"{greeting}\n\n{body}\n\nMit freundlichen Grüßen\n{end}\n"
    text, spans = _filled(whole, dice)
    return (_wrapped(text), spans) if dice.random() < 0.5 else (text, spans)


def _filled(template: str, dice: random.Random) -> tuple[str, list[Span]]:
    """Put something for every name in braces, and mark it."""
    text, spans = "", []
    for k, part in enumerate(_SLOT.split(template)):
        if k % 2:
            label, choice = POOLS[part]
            part = dice.choice(choice)
            if label is not None:
                spans.append((len(text), len(text) + len(part), label))
        elif text.endswith("."):  # of an abbreviation; it ends the sentence, too
            part = part.removeprefix(".")
        text += part
    return text, spans


def _wrapped(text: str, width: int = 72) -> str:
    """Break lines as a mail program does; offsets stay."""
    signs, first, space = list(text), 0, -1
    for at, sign in enumerate(text):
        if sign == "\n":
            first, space = at + 1, -1
        elif sign == " ":
            space = at
        if at - first >= width and space >= 0:
            signs[space] = "\n"
            first, space = space + 1, -1
    return "".join(signs)


def annotated(
    name: str, text: str, truth: Iterable[Span], dice: random.Random
) -> Marked:
    """Let three annotators mark a text, each with errors of their own."""
    spans = tuple(truth)
    said = tuple(tuple(_errs(text, spans, dice)) for _ in ANNOTATORS)
    return Marked(name, text, spans, said)


def _errs(text: str, truth: Sequence[Span], dice: random.Random) -> Iterable[Span]:
    labels = sorted({label for _, _, label in truth})
    free = Counter(at for a, b, _ in truth for at in range(a, b))
    for a, b, label in truth:
        chance = dice.random()
        if chance < 0.04:
            continue
        if chance < 0.07:
            label = dice.choice(labels)
        elif chance < 0.09 and " " in text[a:b].strip():
            b = a + text[a:b].rindex(" ")  # the last word is forgotten
        elif chance < 0.11 and text[b : b + 1] == " " and not free[b]:
            b += 1  # the blank after it is marked, too
        elif chance < 0.12 and b - a > 3 and not text[b - 2].isspace():
            b -= 1  # the mouse was let go too early
        yield a, b, label


def write_tasks(texts: Iterable[Marked], path: Path) -> Path:
    """Label Studio's export."""
    tasks = []
    for one in texts:
        annotations = [
            {
                "completed_by": {"email": who},
                "result": [
                    {
                        "from_name": "label",
                        "to_name": "text",
                        "type": "labels",
                        "value": {"start": a, "end": b, "labels": [label],
                                  "text": one.text[a:b]},
                    }
                    for a, b, label in spans
                ],
            }
            for who, spans in zip(ANNOTATORS, one.said, strict=True)
        ]  # fmt: skip
        tasks.append(
            {"id": int(one.id), "data": {"text": one.text}, "annotations": annotations}
        )
    path.write_text(json.dumps(tasks, ensure_ascii=False), encoding="utf-8")
    return path


def write_doccano(texts: Sequence[Marked], path: Path) -> Path:
    """doccano's export: a file a user, in a folder or a zip file."""
    files = {}
    for k, who in enumerate(ANNOTATORS):
        records = (
            {"id": int(one.id), "text": one.text, "label": list(map(list, one.said[k]))}
            for one in texts
        )
        lines = (json.dumps(record, ensure_ascii=False) + "\n" for record in records)
        files[f"{who}.jsonl"] = "".join(lines)
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w") as packed:
            for name, content in files.items():
                packed.writestr(name, content)
        return path
    path.mkdir()
    for name, content in files.items():
        (path / name).write_text(content, encoding="utf-8")
    return path


def write_brat(texts: Iterable[Marked], path: Path) -> Path:
    """Folder of brat, one folder an annotator; spans over a line end are in pieces."""
    for one in texts:
        for who, spans in zip(ANNOTATORS, one.said, strict=True):
            (path / who).mkdir(parents=True, exist_ok=True)
            lines = []
            for n, (a, b, label) in enumerate(spans, 1):
                parts = [
                    m.span() for m in re.compile("[^\n]+").finditer(one.text, a, b)
                ]
                where = ";".join(f"{x} {y}" for x, y in parts)
                quote = " ".join(one.text[x:y] for x, y in parts)
                lines.append(f"T{n}\t{label} {where}\t{quote}\n")
            (path / who / f"{one.id}.txt").write_bytes(one.text.encode())
            (path / who / f"{one.id}.ann").write_bytes("".join(lines).encode())
    return path
