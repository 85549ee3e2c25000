"""Training of the Unigram language model (Kudo 2018), from word counts to pieces with scores.

    chunks = the stretches of the words that no piece may leave, with counts
    pieces = all characters, and the substrings of highest count x length
    repeat:
        a few times:
            expected count of every piece, over all ways to cut every chunk      (E)
            probability = exp(digamma(expected count)) in proportion             (M)
        stop if at most a tenth too many pieces are left
        loss of a piece = how much the best cut of the corpus gets worse without it
        keep all characters, and the pieces of largest loss
    keep all characters, and the likeliest pieces
    probability = expected count in proportion, at least half a time each

Rules:
- A piece lies within one script; digits count as a script of their own kind (Common). A character
  that is not in the alphabet is in no piece.
- A substring is a candidate if it occurs at least twice and not every time before the same character.
  The end of a chunk is no character. Ties of count x length go to the text that sorts first.
- A piece expected less than half a time is dropped; a character is kept with a trace of probability.
- Ties of loss or probability go to the text that sorts first.

Everything is done here in the very order of the fast trainer, so that both give the same bits: sums
of expected counts are whole numbers of a small unit, logarithms are plain arithmetic, and chunks
that begin alike share their way back, in blocks of 1024 sorted chunks (longer ones alone). What is
left out: user-defined pieces, and the rules of `▁` other than that it starts a piece.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import floor, frexp, inf, ldexp, log, sqrt

MARK = "▁"
BLOCK, SHORT = 1024, 20
LEAST = 2.0**-50
GHOST = 4.539992976248485e-5  # exp(-10)


@dataclass(frozen=True)
class UnigramTraining:
    """What training found out.

    Attributes:
        pieces: text -> natural logarithm of its probability, likeliest first.
        likelihoods: log-likelihood of the corpus before each estimation, all ways to cut it together.
        sizes: (at the start, expected often enough, kept) of each round.
    """

    pieces: Mapping[str, float]
    likelihoods: tuple[float, ...]
    sizes: tuple[tuple[int, int, int], ...]


# --- numbers --------------------------------------------------------------------------------------


def ln(x: float) -> float:
    """The natural logarithm, by a series in s = (x - 1) / (x + 1).

    >>> abs(ln(10.0) - log(10.0)) < 1e-15
    True
    """
    return -inf if x == 0 else ln_parts(*frexp(x))


def ln_parts(mantissa: float, exponent: int) -> float:
    """ln(mantissa * 2^exponent)."""
    if mantissa < sqrt(2) / 2:
        mantissa, exponent = mantissa * 2, exponent - 1
    s = (mantissa - 1) / (mantissa + 1)
    total = 0.0
    for odd in range(21, 0, -2):
        total = total * (s * s) + 1 / odd
    return exponent * log(2) + 2 * s * total


def exp(x: float) -> float:
    """The exponential function, by Taylor's series around the nearest multiple of ln 2."""
    turns = floor(x * 1.4426950408889634 + 0.5)  # 1 / ln 2
    rest = x - turns * log(2)
    total = 1.0
    for n in range(14, 0, -1):
        total = total * rest / n + 1
    return ldexp(total, turns)


def exp_digamma(x: float) -> float:
    """exp(digamma(x)): about x - 1/2, and much less for small x.

    >>> round(exp_digamma(1.0), 9)  # exp(-0.5772...), Euler's constant
    0.561459484
    """
    lifted = 0.0
    while x < 8:
        lifted += 1 / x
        x += 1
    y = x - 0.5
    r = 1 / y
    series = (10313 / 2903040 * (r * r) - 37 / 5760) * (r * r) + 1 / 24
    value = y + series * r
    return value * exp(-lifted) if lifted else value


# --- chunks and first pieces ----------------------------------------------------------------------


def alphabet(words: Mapping[str, int], coverage: float = 1.0) -> set[str]:
    """The most frequent characters that make up this share of all (ties: smaller code point).

    >>> sorted(alphabet({"low": 5, "lower": 2}, 0.84))
    ['l', 'o', 'w']
    """
    counts: Counter[str] = Counter()
    for word, count in words.items():
        for character in word:
            counts[character] += count
    kept, covered, total = set(), 0, sum(counts.values())
    for character in sorted(counts, key=lambda c: (-counts[c], c)):
        if covered / total >= coverage:
            break
        kept.add(character)
        covered += counts[character]
    return kept


def chunks(
    words: Mapping[str, int], kept: set[str], script: Callable[[str], str] | None
) -> dict[str, int]:
    """Cuts words where no piece may cross; equal chunks are counted together, sorted by text.

    >>> chunks({"▁ab12": 3, "▁12": 1}, set("▁ab12"), lambda c: "Latin" if c in "ab" else "Common")
    {'12': 3, '▁12': 1, '▁ab': 3}
    """

    def own_script(character: str, before: str | None) -> str | None:
        """The script that counts behind a character; None goes with any."""
        if script is None:
            return None
        own = "Inherited" if character == MARK else script(character)
        return before if own == "Inherited" else own

    found: Counter[str] = Counter()
    for word, count in words.items():
        chunk, before = "", None
        for character in word:
            own = own_script(character, before)
            crossing = before is not None and own is not None and own != before
            if character == MARK or character not in kept or crossing:
                found[chunk] += count
                chunk, own = "", own_script(character, None)
            if character in kept:
                chunk, before = chunk + character, own
            else:
                before = None
        found[chunk] += count
    return {chunk: found[chunk] for chunk in sorted(found) if chunk}


def seeds(corpus: Mapping[str, int], size: int, longest: int) -> dict[str, int]:
    """All characters, and the `size` best substrings: text -> count x length, sorted by text.

    >>> seeds({"abab": 2, "b": 1}, 2, 16)
    {'a': 4, 'ab': 8, 'abab': 8, 'b': 5}
    """
    counts: Counter[str] = Counter()
    nexts: dict[str, set[str]] = {}
    for chunk, count in corpus.items():
        for start in range(len(chunk)):
            for end in range(start + 1, min(start + longest, len(chunk)) + 1):
                counts[chunk[start:end]] += count
                nexts.setdefault(chunk[start:end], set()).add(chunk[end : end + 1])
    scores = {text: count * len(text) for text, count in counts.items()}
    candidates = [
        text
        for text in counts
        if len(text) > 1 and counts[text] >= 2 and (len(nexts[text]) > 1 or "" in nexts[text])
    ]
    chosen = sorted(candidates, key=lambda text: (-scores[text], text))[:size]
    characters = [text for text in counts if len(text) == 1]
    return {text: scores[text] for text in sorted([*characters, *chosen])}


# --- all ways to cut ------------------------------------------------------------------------------


@dataclass
class Node:
    """A common beginning of chunks: a node of their prefix tree.

    A probability of ways is (m, e) for m * 2^e: products of many probabilities fit no float.

    Attributes:
        ends: (piece, node where it starts) for the pieces that end here, longest first.
        count: how often the chunk that ends here occurs, 0 if none does.
        forward: all ways to cut what leads here; 0.5 <= m < 1.
        backward: all ways to cut what follows, divided by those of the whole chunk, times its count,
            and times 2 to the exponent of `forward`.
    """

    children: dict[str, Node] = field(default_factory=dict)
    ends: list[tuple[str, Node]] = field(default_factory=list)
    count: int = 0
    forward: tuple[float, int] = (0.5, 1)
    backward: float = 0.0


def tree(block: Iterable[tuple[str, int]], pieces: Mapping[str, float], longest: int) -> Node:
    """The prefix tree of some chunks."""
    root = Node()
    for chunk, count in block:
        path = [root]
        for end, character in enumerate(chunk, 1):
            node = path[-1].children.get(character)
            if node is None:
                node = path[-1].children[character] = Node()
                for start in range(max(0, end - longest), end):
                    if chunk[start:end] in pieces:
                        node.ends.append((chunk[start:end], path[start]))
            path.append(node)
        path[-1].count = count
    return root


def blocks(corpus: Mapping[str, int]) -> Iterator[list[tuple[str, int]]]:
    """The chunks, 1024 at a time; each long one alone, behind the others."""
    short = [item for item in corpus.items() if len(item[0]) <= SHORT]
    for start in range(0, len(short), BLOCK):
        yield short[start : start + BLOCK]
    yield from ([item] for item in corpus.items() if len(item[0]) > SHORT)


def depth_first(root: Node) -> Iterator[tuple[Node, bool]]:
    """Every node twice: when it is entered (True), and when all below it is done (False)."""
    stack = [(child, True) for child in reversed(root.children.values())]
    while stack:
        node, entered = stack.pop()
        yield node, entered
        if entered:
            stack.append((node, False))
            stack.extend((child, True) for child in reversed(node.children.values()))


def power_of_two(exponent: int) -> float:
    """2^exponent, 0 where that is no normal float."""
    return 0.0 if exponent < -1022 else ldexp(1.0, exponent)


def expect(
    corpus: Mapping[str, int], pieces: Mapping[str, float], longest: int, bits: int
) -> tuple[dict[str, int], float]:
    """The expected count of every piece in units of 2^-bits, and the log-likelihood of the corpus.

    "aa" is "a" + "a" with probability 0.36, and "aa" with 0.4:

    >>> counts, likelihood = expect({"aa": 1}, {"a": 0.6, "aa": 0.4}, 2, 20)
    >>> [round(count / 2**20, 4) for count in counts.values()], round(exp(likelihood), 4)
    ([0.9474, 0.5263], 0.76)
    """
    expected = dict.fromkeys(pieces, 0)
    likelihood = 0.0
    for block in blocks(corpus):
        part = 0.0
        for node, entered in depth_first(tree(block, pieces, longest)):
            if entered:
                possible = [start for piece, start in node.ends if pieces[piece] > 0]
                highest = max(start.forward[1] for start in possible)
                total = 0.0
                for piece, start in node.ends:
                    mantissa, exponent = start.forward
                    total += mantissa * (pieces[piece] * power_of_two(exponent - highest))
                mantissa, exponent = frexp(total)
                node.forward = mantissa, exponent + highest
                if node.count:
                    node.backward = node.count / mantissa
                    part += node.count * ln_parts(*node.forward)
            else:
                for piece, start in reversed(node.ends):
                    shift = power_of_two(start.forward[1] - node.forward[1])
                    term = pieces[piece] * shift * node.backward
                    start.backward += term
                    expected[piece] += int(start.forward[0] * term * ldexp(1.0, bits) + 0.5)
        likelihood += part
    return expected, likelihood


def maximise(expected: Mapping[str, int], bits: int) -> tuple[dict[str, float], int]:
    """New probabilities, and how many pieces are expected at least half a time.

    >>> weights, size = maximise({"a": 4 << 20, "b": 0, "ab": 2 << 20, "ba": 1 << 18}, 20)
    >>> size, {piece: round(p, 5) for piece, p in weights.items()}
    (2, {'a': 0.63763, 'b': 1e-05, 'ab': 0.27711, 'ba': 0.0})
    """
    unit = ldexp(1.0, -bits)
    usual = [units for units in expected.values() if units * unit >= 0.5]
    everything = exp_digamma(sum(usual) * unit)
    ghost = max(exp_digamma(min(usual) * unit) / everything * GHOST, LEAST)
    weights = {}
    for piece, units in expected.items():
        if units * unit >= 0.5:
            weights[piece] = max(exp_digamma(units * unit) / everything, LEAST)
        else:
            weights[piece] = ghost if len(piece) == 1 else 0.0
    return weights, len(usual)


def proportions(expected: Mapping[str, int], bits: int) -> dict[str, float]:
    """New probabilities without the digamma: the counts in proportion, each at least half a time.

    >>> proportions({"a": 3 << 20, "b": 0}, 20)
    {'a': 0.8571428571428571, 'b': 0.14285714285714285}
    """
    unit = ldexp(1.0, -bits)
    least = max(int(ldexp(0.5, bits)), 1)
    counts = {piece: max(units, least) for piece, units in expected.items()}
    everything = sum(counts.values()) * unit
    return {piece: max(units * unit / everything, LEAST) for piece, units in counts.items()}


# --- pruning --------------------------------------------------------------------------------------


def best_cut(
    text: str, logs: Mapping[str, float], longest: int, without: str = ""
) -> tuple[float, list[str]]:
    """The best way to cut a text, and its log-probability; of equal ones that with the longest last
    piece. `without` is a piece that may not be used (Viterbi 1967).

    >>> best_cut("abb", {"a": -1.0, "b": -1.0, "ab": -1.5}, 2)
    (-2.5, ['ab', 'b'])
    """
    best = [(0.0, "")] + [(-inf, "")] * len(text)
    for end in range(1, len(text) + 1):
        for start in range(max(0, end - longest), end):
            piece = text[start:end]
            if piece in logs and piece != without:
                score = best[start][0] + logs[piece]
                if score > best[end][0]:
                    best[end] = score, piece
    cut: list[str] = []
    end = len(text)
    while end and best[end][1]:
        cut.insert(0, best[end][1])
        end -= len(cut[0])
    return best[-1][0], cut


def losses(
    corpus: Mapping[str, int], pieces: Mapping[str, float], longest: int
) -> dict[str, float]:
    """How much the log-likelihood of the best cut falls without each piece, its next best cut taking
    over. Characters are left out, as they stay; so are pieces that are in no best cut, or whose own
    text is better cut: they go.

    >>> losses({"ab": 3, "a": 1, "b": 1}, {"a": 0.25, "b": 0.25, "ab": 0.5}, 2)
    {'ab': 2.626406212061699}
    """
    logs = {piece: ln(p) for piece, p in pieces.items()}
    used = dict.fromkeys(pieces, 0)
    for chunk, count in corpus.items():
        for piece in best_cut(chunk, logs, longest)[1]:
            used[piece] += count
    everything = float(sum(used.values()))
    found = {}
    for piece, count in used.items():
        if len(piece) == 1 or not count:
            continue
        score, parts = best_cut(piece, logs, longest, without=piece)
        if score > logs[piece]:
            continue
        own, after = float(count), 0.0
        for part in reversed(parts):
            after += ln(used[part] + own)
        before = ln(own) - ln(everything)
        after -= len(parts) * ln(everything + own * (len(parts) - 1.0))
        found[piece] = own * (before - after)
    return found


# --- training -------------------------------------------------------------------------------------


def train(
    words: Mapping[str, int],
    size: int,
    *,
    seed_size: int = 1_000_000,
    shrinking_factor: float = 0.75,
    num_sub_iterations: int = 2,
    max_piece_length: int = 16,
    character_coverage: float = 1.0,
    script: Callable[[str], str] | None = None,
) -> UnigramTraining:
    """Learns `size` pieces; fewer if the corpus does not give as many.

    Args:
        words: word -> count.
        script: character -> name of its script, "Common" or "Inherited"; Hiragana and Katakana must
            count as Han. None: pieces may have any.

    >>> training = train({"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}, 9)
    >>> [(piece, round(score, 2)) for piece, score in training.pieces.items()][:4]
    [('hug', -1.38), ('pun', -1.6), ('u', -1.89), ('g', -2.48)]
    """
    longest = max_piece_length
    corpus = chunks(words, alphabet(words, character_coverage), script)
    total = sum(count * len(chunk) for chunk, count in corpus.items())
    bits = min(20, 62 - total.bit_length())
    scores = seeds(corpus, seed_size, longest)
    everything = float(sum(scores.values()))
    pieces = {piece: max(score / everything, LEAST) for piece, score in scores.items()}
    enough = size + size // 10
    likelihoods, sizes = [], []
    while True:
        start = len(pieces)
        for _ in range(num_sub_iterations):
            expected, likelihood = expect(corpus, pieces, longest, bits)
            likelihoods.append(likelihood)
            pieces, usual = maximise(expected, bits)
        if usual <= enough:
            sizes.append((start, usual, usual))
            break
        target = max(enough, int(shrinking_factor * usual))
        kept = _best(pieces, losses(corpus, pieces, longest), target)
        pieces = {piece: p for piece, p in pieces.items() if piece in kept}
        sizes.append((start, usual, len(pieces)))
    kept = _best(pieces, {piece: p for piece, p in pieces.items() if p and len(piece) > 1}, size)
    pieces = {piece: p for piece, p in pieces.items() if piece in kept}
    pieces = proportions(expect(corpus, pieces, longest, bits)[0], bits)
    final = sorted(pieces, key=lambda piece: (-pieces[piece], piece))
    return UnigramTraining(
        {piece: ln(pieces[piece]) for piece in final}, tuple(likelihoods), tuple(sizes)
    )


def _best(pieces: Iterable[str], values: Mapping[str, float], size: int) -> set[str]:
    """All characters, and the other pieces of largest value; `size` in all."""
    characters = [piece for piece in pieces if len(piece) == 1]
    others: Sequence[str] = sorted(values, key=lambda piece: (-values[piece], piece))
    return {*characters, *others[: max(0, size - len(characters))]}
