"""The texts that tokenizers are compared on: of many writings, hard ones, those of their own pieces."""

from __future__ import annotations

import os
import random
from collections.abc import Iterable, Iterator

from jogak.errors import ConfigError
from jogak.tokenizer import Tokenizer

__all__ = ["built_in", "from_files"]

#: How many random mixtures of pieces and hard characters are made.
_MIXTURES = 3000

#: Ordinary sentences.
SENTENCES = (
    "The quick brown fox doesn't jump over 1,234,567 lazy dogs; it's 10:45 a.m., they'll wait.",
    "Don't you think we're LATE? I'D SAY SO. (They've left already: 3 of 12.)",
    "계란간장볶음밥은 최고의 영화! 정말 재미있게 봤어요ㅋㅋㅋ 10점 만점에 9.5점 드립니다.",
    "아버지가방에들어가신다. 값을 깎아 달라고 했더니, 안 된다고 하더라고요.",
    "春眠不覺曉，處處聞啼鳥。夜來風雨聲，花落知多少。",
    "自然语言处理是人工智能领域中的一个重要方向，2026年有许多新的研究。",
    "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。",
    "カタカナとひらがな、漢字、ABC、123を混ぜた文章です。ｶﾀｶﾅ ＡＢＣ １２３",
    "Съешь же ещё этих мягких французских булок, да выпей чаю. №5 стоит 100 ₽.",
    "Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich. STRASSE, Straße, ẞ.",
    "Le cœur déçu mais l'âme plutôt naïve, Louÿs rêva de crapaüter en canoë.",
    "El pingüino Wenceslao hizo kilómetros bajo exhaustiva lluvia; ¿qué añoraba? ¡Nada!",
    "Tôi nói tiếng Việt rất kém, nhưng tôi đang học mỗi ngày.",
    "İstanbul'da IĞDIR'lı biri ısrarla ılık çay içiyordu.",
    "Ξεσκεπάζω την ψυχοφθόρα βδελυγμία. ΟΔΟΣ ὀδός ΣΊΣΥΦΟΣ",
    "نص حكيم له سر قاطع وذو شأن عظيم مكتوب على ثوب أخضر ومغلف بجلد أزرق.",
    "דג סקרן שט בים מאוכזב ולפתע מצא חברה. שָׁלוֹם",
    "ऋषियों को सताने वाले दुष्ट राक्षसों के राजा रावण का सर्वनाश करने वाले। १२३",
    "เป็นมนุษย์สุดประเสริฐเลิศคุณค่า กว่าบรรดาฝูงสัตว์เดรัจฉาน",
    "யாமறிந்த மொழிகளிலே தமிழ்மொழி போல் இனிதாவது எங்கும் காணோம்",
    "def main(argv: list[str]) -> int:\n    if not argv:\n\t\treturn -1  # no\n    return 0\n",
    'for (int i = 0; i < 10; ++i) { printf("%d\\n", x[i] != NULL ? *x[i] : 0xFF); }',
    '{"name": "jogak", "values": [1, 2.5, -3e10, null, true], "text": "\\u00e9"}',
    "<html><body class='a'>&amp; text &lt;b&gt; <!-- comment --></body></html>",
    "https://example.org/path/to/page.html?query=1&other=two#part user.name+tag@mail.example.com",
)

#: Texts that front halves stumble over.
HARD = (
    "",
    " ",
    "  ",
    "   leading and trailing   ",
    "\n",
    "\n\n\n",
    "\r\n\r\n",
    "\t\ttabs\tand  spaces \n newlines\n\n \n",
    "a\u00a0b\u2003c\u3000d\u200be\u2028f\u0085g\u180eh\ufeffi",
    "\u0000\u0001\u001f\u007f\u0080\u009f",
    "e\u0301 \u00e9 \u1100\u1161\u11a8 \uac01 \u0e33 \ufb01 \u2460 \u33a5 \uff21",
    "a\u0300\u0301\u0302\u0303\u0304b\u0327c",
    "👍🏽 👩‍👩‍👧‍👦 🏳️‍🌈 🇰🇷🇨🇳🇯🇵 🤦🏻‍♀️ ☃️ ⌚",
    "\ud7ff\ue000\ufffd\uffff\U00010000\U0010ffff",
    "𝒜𝓁𝑔𝑒𝒷𝓇𝒶 𝟘𝟙𝟚 𐍈 𠮷野家 𓀀",
    "▁ ▁▁ a▁b ▁a",
    "Ġ Ċ ĉ Â ## ##a </w> <0x0A> <unk> <s> </s> [CLS] [SEP] [MASK] <|endoftext|>",
    "''''s 't 'RE ‘s ’s I'll'd've",
    "1 12 123 1234 12345 123456 1234567 ٣٤٥ ½ Ⅷ ²³",
    "...!!!???——…،。、",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "한글한글한글한글한글한글한글한글한글한글한글한글한글한글한글한글한글한글한글한글한글한글한글한글",
    "ABCdefGHIjklMNO camelCaseWords SCREAMING_SNAKE_CASE kebab-case x2y3z4",
    "ſ K Å İ ı ŉ ǰ ΐ ﬓ ß ẞ",
)

#: Characters that random mixtures are spiced with.
_SPICE = " \n\t'.,-_▁Ġ#<>[]|0159aZéß가힣ㄱ中の\u0301\u200d\u00a0\u3000\ufffd🐑"


def built_in(tokenizer: Tokenizer) -> Iterator[str]:
    """The probe corpus that is built in, for a tokenizer: the same for the same tokenizer, always."""
    yield from SENTENCES
    yield from HARD
    yield "\n".join((*SENTENCES, *HARD))
    pieces = []
    for id_, text in enumerate(tokenizer.spec.model.pieces):
        if text is None:
            continue
        written = tokenizer.decode([id_])
        pieces.append(written)
        yield written
        if text != written:
            yield text
    draw = random.Random(0)
    for _ in range(_MIXTURES if pieces else 0):
        parts = []
        for _ in range(draw.randrange(1, 30)):
            spice = draw.random() < 0.25
            parts.append(draw.choice(_SPICE) if spice else draw.choice(pieces))
        yield "".join(parts)


def from_files(paths: Iterable[str | os.PathLike[str]]) -> Iterator[str]:
    """The lines of text files, and at the end of each file all of its text, up to a million characters.

    Raises:
        ConfigError: a file that is no UTF-8.
        OSError: a file that cannot be read.
    """
    if isinstance(paths, (str, os.PathLike)):
        paths = [paths]
    for path in paths:
        try:
            with open(path, encoding="utf-8", newline="") as file:
                text = file.read()
        except UnicodeDecodeError as error:
            raise ConfigError(
                f"{os.fspath(path)} is not UTF-8 at byte {error.start}; expected text files in UTF-8, "
                "each line of which is a probe"
            ) from None
        yield from text.split("\n")
        yield text[:1_000_000]
