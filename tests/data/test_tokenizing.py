import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagsift.data.documents import Cut, Document
from tagsift.data.tokenizers import as_tokenizer, cut_spaces, tokenizer_name
from tagsift.data.tokenizing import cut_text
from tagsift.errors import InputError

FAMILY = "\U0001f469\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"
THUMB = "\U0001f44d\U0001f3fd"
FRANCE, GERMANY = "\U0001f1eb\U0001f1f7", "\U0001f1e9\U0001f1ea"
KEYCAP, HEART = "1\ufe0f\u20e3", "\u2764\ufe0f"
WALES = "\U0001f3f4" + "".join(chr(0xE0000 + ord(c)) for c in "gbwls") + "\U000e007f"


def words(text):
    return [text[a:b] for a, b in cut_text(text).offsets]


def sentences(text):
    offsets, cuts = cut_text(text)
    return [
        " ".join(text[a:b] for a, b in offsets[i:j])
        for i, j in zip(cuts, cuts[1:], strict=False)
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ann's cats' can't we'll", "Ann 's cats ' ca n't we 'll"),
        ("Ann’s don’t O’Brien o'clock", "Ann ’s do n’t O’Brien o'clock"),
        ("U.S.'s 80%'s", "U.S. 's 80 % 's"),
        ("1,000.5 10:30 3/4 24th -5 +44 .500", "1,000.5 10:30 3/4 24th -5 +44 .500"),
        ("$5.4m US$3 50%.", "$ 5.4m US$ 3 50 % ."),
        ("AT&T and/or long-term a--b", "AT&T and/or long-term a -- b"),
        ('(1-0), "so" [x]', '( 1-0 ) , " so " [ x ]'),
        ("at https://a.org/b?c=d, or", "at https://a.org/b?c=d , or"),
        ("mail a.b@c.de.", "mail a.b@c.de ."),
        ("C++ C# @ann #tag #5", "C++ C# @ann #tag # 5"),
        ("U.S.-made a.m. Ph.D. J. R. Smith x", "U.S.-made a.m. Ph.D. J. R. Smith x"),
        ("Dr. Who vs. Inc. and No. 5 of", "Dr. Who vs. Inc. and No. 5 of"),
        ("Wait... What?! ``Yes''", "Wait ... What ?! `` Yes ''"),
        ("snake_case x=1", "snake_case x = 1"),
        # marks, joiners and scripts
        ("e\u0301tude nai\u0308ve", "e\u0301tude nai\u0308ve"),
        ("हिन्दी में।", "हिन्दी में ।"),
        ("می\u200cروم خانه؟", "می\u200cروم خانه ؟"),
        ("שָׁלוֹם עולם.", "שָׁלוֹם עולם ."),
        ("東京へ。", "東 京 へ 。"),
        ("か\u3099 한국어", "か\u3099 한국어"),
        ("ดีครับ", "ดี ค รั บ"),
        (
            f"{FAMILY}{THUMB}{FRANCE}{GERMANY} {KEYCAP}{HEART}{WALES}!",
            f"{FAMILY} {THUMB} {FRANCE} {GERMANY} {KEYCAP} {HEART} {WALES} !",
        ),
    ],
)
def test_tokens(text, expected):
    assert words(text) == expected.split(" ")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He left. She stayed? Yes!", ["He left .", "She stayed ?", "Yes !"]),
        ("Dr. J. Smith of Acme Corp. said", ["Dr. J. Smith of Acme Corp. said"]),
        ("At Acme Corp. The end.", ["At Acme Corp .", "The end ."]),
        ("in the U.S. It rains.", ["in the U.S .", "It rains ."]),
        ("take vitamin C.", ["take vitamin C ."]),
        ("take C.\n\nMore", ["take C .", "More"]),
        ('"Why?" he said. "Go." Yes', ['" Why ? " he said .', '" Go . "', "Yes"]),
        ("(He left.) (Acme Corp.) The", ["( He left . )", "( Acme Corp. )", "The"]),
        ("1. One\n2. Two", ["1. One", "2. Two"]),
        ("room No. 5. No. Yes", ["room No. 5 .", "No .", "Yes"]),
        ("in 1996. He", ["in 1996 .", "He"]),
        ("title\n\nwrapped\r\nline\r\n\r\nend", ["title", "wrapped line", "end"]),
        ("今日。明日！「はい。」と", ["今 日 。", "明 日 ！", "「 は い 。 」 と"]),
        ("كيف حالك؟ بخير", ["كيف حالك ؟", "بخير"]),
        ("end.Next", ["end .", "Next"]),
        ("(in the U.S. ) The", ["( in the U.S. )", "The"]),
        ("(J. ) C. » The", ["( J. ) C. »", "The"]),
        ("« Bonjour ! » dit-il.", ["« Bonjour ! » dit-il ."]),
    ],
)  # fmt: skip
def test_sentences(text, expected):
    assert sentences(text) == expected


@pytest.mark.parametrize(
    "marked",
    [
        "Wir treffen uns am 3. Mai um acht. | Bis dann.",
        "Es gilt ab 1. Januar 2023. | Danach nicht mehr.",
        "Sie kamen im 19. Jahrhundert an. | Dann gingen sie.",
        "Vom 3.-5. Mai und am 3./4. Juni ist zu.",
        "Am 12. Okt. 2021 kam Ihre 2. Mahnung.",
        "In der 2. Etage feiert er seinen 60. Geburtstag am 1. Advent.",
        "Bis zum 03.05. ist Zeit. | Dann nicht mehr.",
        "Am 03.05. Frau Weiß anrufen.",
        "Der 1. FC Köln spielt am 3. Spieltag.",
        "Er wurde Dritter am 3. | Der Rest kam später.",
        "Es waren 12. | Danach kam keiner.",
        "Dr. med. Weiß und Dr. rer. nat. Groß kamen. | Sie blieben.",
        "Prof. Dr. h. c. mult. Krämer und Dipl.-Ing. Bäcker.",
        "Hr. Schäfer, Fr. Jung und Fam. Klein bei Fa. Groß.",
        "Nach § 5 Abs. 2 Satz 1 Nr. 3 BGB haftet er.",
        "Art. 5 Abs. 1 UAbs. 2 lit. a DSGVO gilt. | Rn. 17 nicht.",
        "Gem. § 1 Abs. 3 i. V. m. § 2 Nr. 4 KSchG, vgl. Anl. 3 zu § 8.",
        "Siehe S. 12, Bd. 3, Kap. 4 und Abb. 5, Ziff. 7, Buchst. b.",
        "Das Urt. v. 3. Mai 2019 (Az. 3 O 12/20) ist st. Rspr. des BGH.",
        "Sie wohnt z. B. Berlin nahe, d. h. Potsdam, u. a. Spandau.",
        "Sie nimmt z. B. Die Zeit mit.",
        "Im Jahr 50 v. Chr. Rom erobert, i. d. R. Gallien, u. U. Ägypten.",
        "Er zahlt ca. 300 Euro, max. Netto, inkl. MwSt. und zzgl. Porto.",
        "Es kostet 5 Mio. Euro bzw. 3 Mrd. Dollar.",
        "Frankfurt a. M. Hauptbahnhof, Rothenburg o. d. T. Markt.",
        "Hauptstr. 5, Goethe-Str. 17, Bahnhofstr. Ecke Ring.",
        "Weber u. Co. KG, Gebr. Löwe, Bäckerei Jäger e. K. Ulm",
        "Äpfel, Birnen usw. | Die Liste ist lang.",
        "Das war dieser Art. | Danach kam nichts.",
        "M. Dupont et Mme. Martin, p. ex. Paul, c.-à-d. Jean.",
        "MM. Dupont et Martin, Mgr. Lefèvre, art. 5 al. 2, chap. 3.",
        "Né en 50 av. J.-C. | Il est mort.",
        "Le Sr. García y la Sra. López, p. ej. Madrid, EE. UU. México.",
        "Núm. 5, pág. 12, Avda. Mayor 3, Excmo. Sr. Ruiz, Uds. Pueden",
        "D. Juan y Dña. Ana de la C. Mayor.",
        "Il Sig. Rossi, la Sig.ra Bianchi e il Dott. Verdi, p. es. Milano.",
        "Gent. Sig. Neri, Avv. Russo, Ing. Costa, pag. 3, n. 5, ecc. ecc.",
        "Add 2 tbsp. Sugar, 8 oz. Butter and 1 tsp. Vanilla. | Then stir.",
        "Mix 1 lb. Beef, 2 qt. Stock, 12 fl. oz. Milk and 3 lg. Eggs.",
        "Bake 20 min. in a pan. | This takes 1 hr. | The end.",
        "Take vitamin C. | The dose is low.",
        "Heat 1 c. Oil. | Mix well.",
        "So did plan b. | The rest failed.",
        "He was 5. | Then he left.",
        "See Sec. 3, No. 5, Fig. 2, p. 12, ch. 4 and vol. 7.",
        "It rose to 4.5. | Then it fell.",
        "She left in May. | He stayed.",
    ],
)
def test_abbreviations_and_ordinals_end_no_sentence(marked):
    """Bounds are where a bar stands, in German, French, Spanish, Italian, English."""
    expected = marked.split(" | ")
    text = " ".join(expected)
    offsets, cuts = cut_text(text)
    assert [
        text[offsets[a][0] : offsets[b - 1][1]]
        for a, b in zip(cuts, cuts[1:], strict=False)
    ] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("am 3. Mai", "am 3. Mai"),
        ("Es war am 3.", "Es war am 3 ."),
        ("z. B. Dr. h. c. Weiß", "z. B. Dr. h. c. Weiß"),
        ("v. Chr. v.Chr. p. ex. Dipl.-Ing.", "v. Chr. v.Chr. p. ex. Dipl. - Ing ."),
        ("Art. 5 Abs. 2 (Nr. 3) lit. a", "Art. 5 Abs. 2 ( Nr. 3 ) lit . a"),
        ("Hauptstr. 5 kostet 5 m.", "Hauptstr. 5 kostet 5 m ."),
        ("한국어 해. 그", "한국어 해 . 그"),
    ],
)
def test_stops_of_abbreviations(text, expected):
    assert words(text) == expected.split(" ")


def test_lines_that_a_mail_program_has_wrapped():
    assert sentences("Wir kommen am\n3. Mai. Bis dann") == [
        "Wir kommen am 3. Mai .",
        "Bis dann",
    ]


def test_nothing_but_space_is_no_token():
    for text in ("", " \t\r\n\r\n", "\ufeff\u200b\u200f\x00"):
        assert cut_text(text) == Cut((), (0,))


@given(
    st.lists(
        st.one_of(
            st.characters(exclude_categories=("Cs",)),
            st.sampled_from(["U.S.", "Inc.", "No.", "1.", " The ", "Dr.", " » "]),
            st.sampled_from("aA1.,'’-\n\r \t!?\"()。し\u0301\u200d" + FAMILY + FRANCE),
        ),
        max_size=60,
    ).map("".join)
)
def test_offsets_are_right_to_the_character(text):
    offsets, cuts = cut_text(text)
    assert cuts[0] == 0 and cuts[-1] == len(offsets)
    assert list(cuts) == sorted(set(cuts))
    at = 0
    for first, last in offsets:
        assert at <= first < last <= len(text)
        assert not re.search(r"\s", text[first:last])
        assert invisible(text[at:first])
        at = last
    assert invisible(text[at:])


def invisible(text):
    return all(c.isspace() or unicodedata.category(c) in ("Cc", "Cf") for c in text)


def test_words_are_kept_and_the_memory_is_bounded(monkeypatch):
    from tagsift.data import tokenizing

    monkeypatch.setattr(tokenizing, "_MOST", 10)
    text = " ".join(f"word{n}." for n in range(100))
    assert len(cut_text(text).offsets) == 200
    assert len(tokenizing._kept) <= 10
    assert cut_text("x" * 50).offsets == ((0, 50),)


def test_a_sentence_a_line_where_text_is_cut_already():
    text = "New York\r\n\r\nis n't ."
    assert cut_spaces(text) == Cut(
        ((0, 3), (4, 8), (12, 14), (15, 18), (19, 20)), (0, 2, 5)
    )
    assert as_tokenizer("spaces") is cut_spaces
    assert as_tokenizer(None) is as_tokenizer("words") is cut_text


def test_a_function_cuts_instead():
    text = "One. Two three"
    spaces = lambda text: [m.span() for m in re.finditer(r"\S+", text)]  # noqa: E731
    assert as_tokenizer(spaces)(text) == Cut(((0, 4), (5, 8), (9, 14)), (0, 1, 3))
    whole = as_tokenizer(spaces, sentences=lambda text: [(0, len(text))])
    assert whole(text).sentences == (0, 3)
    assert as_tokenizer(None, lambda text: [(0, 9), (9, 14)])(text).sentences == (
        0,
        3,
        4,
    )
    document = Document("a", text).cut(as_tokenizer(spaces))
    assert document.tokens == ("One.", "Two", "three")
    assert "function:" in tokenizer_name(spaces)


@pytest.mark.parametrize(
    "found",
    [[(0, 99)], [(3, 2)], [(2, 4), (1, 5)], [(0, 0)], [("a", 2)], [(1, 2, 3)],
     Cut(((0, 1),), (0,)), Cut(((0, 1),), (1, 1)), Cut(((0, 1),), (0, 1, 1))],
)  # fmt: skip
def test_a_function_that_cuts_badly_is_told(found):
    with pytest.raises(InputError, match="expected the tokenizer to return"):
        as_tokenizer(lambda text: found)("a text")


def test_what_is_no_tokenizer():
    for wrong in ("letters", 3):
        with pytest.raises(InputError, match="expected a tokenizer to be 'words'"):
            as_tokenizer(wrong)


class Token:
    def __init__(self, text, first, last, start):
        self.idx, self.is_sent_start, self._size = first, start, last - first
        self.is_space = not text[first:last].strip()

    def __len__(self):
        return self._size


class Pipeline:
    """As much of a spaCy pipeline as is asked for."""

    meta = {"lang": "en", "name": "small", "version": "1.0"}
    sentences = True

    def make_doc(self, text):
        raise NotImplementedError

    def __call__(self, text):
        class Doc(list):
            sents = [
                type("Span", (), {"start_char": 0}),
                type("Span", (), {"start_char": 5}),
            ]
            has_annotation = staticmethod(lambda name: self.sentences)

        found = re.finditer(r"\S+|\n+", text)
        return Doc(Token(text, *match.span(), False) for match in found)


def test_a_spacy_pipeline_cuts_instead():
    nlp = Pipeline()
    text = "Mr X\nand y. No"
    assert as_tokenizer(nlp)(text) == Cut(
        ((0, 2), (3, 4), (5, 8), (9, 11), (12, 14)), (0, 2, 5)
    )
    nlp.sentences = False
    assert as_tokenizer(nlp)(text).sentences == (0, 4, 5)
    assert tokenizer_name(nlp) == "spacy:en_small-1.0"
    assert tokenizer_name(None) == tokenizer_name("words") == "words"


def test_a_real_pipeline():
    spacy = pytest.importorskip("spacy")
    nlp = spacy.blank("en")
    text = "Ann isn't in New York.  She left\n\nfor the U.S."
    offsets, cuts = as_tokenizer(nlp)(text)
    assert [text[a:b] for a, b in offsets][:4] == ["Ann", "is", "n't", "in"]
    assert cuts == (0, 7, 9, 12)  # by the rules
    nlp.add_pipe("sentencizer")
    assert as_tokenizer(nlp)(text).sentences == (0, 7, 12)
    assert tokenizer_name(nlp).startswith("spacy:en_")


@pytest.mark.parametrize("piece", ["東京。", "a+", "a@a.", "x's", "((", FAMILY, "1,"])
def test_long_text_without_spaces_takes_linear_time(piece):
    """Quadratic time would be minutes here."""
    text = piece * 50_000
    offsets, cuts = cut_text(text)
    assert "".join(text[a:b] for a, b in offsets) == text
    assert cuts[-1] == len(offsets)
