"""Two answers to the same texts: where they differ first, in how small a text, and at which stage."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from jogak.conversion.certificate import Comparison, Difference
from jogak.errors import JogakError
from jogak.tokenizer import Tokenizer

__all__ = ["Answerer", "compared"]

Policy: TypeAlias = Literal["text", "parse"]
#: The ids of a text, or the name of the kind of error that it is.
Answer: TypeAlias = Sequence[int] | str

_POLICIES: tuple[Policy, ...] = ("text", "parse")
_BATCH = 4096


@dataclass(frozen=True)
class Answerer:
    """Somebody who knows the ids of texts.

    Args:
        name: who, for the certificate.
        encode: texts and policy -> answers; None if the policy is one that cannot be asked for.
        decode: lists of ids -> texts; None if that cannot be asked for.
        tokenizer: the tokenizer, where its stages can be looked at.
    """

    name: str
    encode: Callable[[Sequence[str], Policy], list[Answer] | None]
    decode: Callable[[Sequence[Sequence[int]]], list[str] | None]
    tokenizer: Tokenizer | None = None

    @classmethod
    def of_jogak(cls, name: str, tokenizer: Tokenizer) -> Answerer:
        """A tokenizer of ours."""

        def one(text: str, policy: Policy) -> Answer:
            try:
                return tokenizer.encode(text, special=policy)
            except JogakError:
                return "refused"

        def encode(texts: Sequence[str], policy: Policy) -> list[Answer]:
            try:
                return list(tokenizer.encode_batch(texts, special=policy).to_lists())
            except JogakError:
                return [one(text, policy) for text in texts]

        def decode(all_ids: Sequence[Sequence[int]]) -> list[str]:
            return [tokenizer.decode(ids) for ids in all_ids]

        return cls(name, encode, decode, tokenizer)


def compared(
    left: Answerer, others: Sequence[Answerer], texts: Sequence[str]
) -> tuple[list[Comparison], Difference | None]:
    """Compare one with all others, on all texts; up to the first difference."""
    comparisons: list[Comparison] = []
    for policy in _POLICIES:
        answers = _all(left, texts, policy)
        assert answers is not None  # ours can be asked for anything
        ids = [answer for answer in answers if not isinstance(answer, str)]
        decoded = left.decode(ids)
        assert decoded is not None
        for right in others:
            found = _all(right, texts, policy)
            if found is None:
                continue
            comparisons.append(_comparison("ids", policy, left, right, answers, ids))
            for text, one, other in zip(texts, answers, found, strict=True):
                if _plain(one) != _plain(other):
                    return comparisons, _difference(left, right, text, policy)
            if (back := right.decode(ids)) is None:
                continue
            comparisons.append(_comparison("decoded", policy, left, right, decoded, ids))
            for these, one_text, other_text in zip(ids, decoded, back, strict=True):
                if one_text != other_text:
                    return comparisons, Difference(
                        text=one_text,
                        special=policy,
                        left=left.name,
                        right=right.name,
                        left_answer=one_text,
                        right_answer=other_text,
                        stage="decoder",
                        left_stage=list(these),
                        right_stage=list(these),
                    )
    return comparisons, None


def _all(who: Answerer, texts: Sequence[str], policy: Policy) -> list[Answer] | None:
    answers: list[Answer] = []
    for at in range(0, len(texts), _BATCH):
        part = who.encode(texts[at : at + _BATCH], policy)
        if part is None:
            return None
        answers += part
    return answers


def _plain(answer: Answer) -> Answer:
    return answer if isinstance(answer, str) else list(answer)


def _comparison(
    what: str,
    policy: Policy,
    left: Answerer,
    right: Answerer,
    answers: Sequence[Answer],
    ids: Sequence[Sequence[int]],
) -> Comparison:
    state = hashlib.sha256()
    for answer in answers:
        text = answer if isinstance(answer, str) else " ".join(map(str, answer))
        state.update(text.encode("utf-8", "surrogatepass") + b"\0")
    return Comparison(
        what=what,
        special=policy,
        left=left.name,
        right=right.name,
        texts=len(answers),
        ids=sum(map(len, ids)),
        sha256=state.hexdigest(),
    )


def _difference(left: Answerer, right: Answerer, text: str, policy: Policy) -> Difference:
    def answers(text: str) -> tuple[Answer, Answer]:
        one, other = left.encode([text], policy), right.encode([text], policy)
        assert one is not None and other is not None
        return _plain(one[0]), _plain(other[0])

    text = _smallest(text, lambda text: len(set(map(str, answers(text)))) == 2)
    one, other = answers(text)
    stage, left_stage, right_stage = _stage(left.tokenizer, right.tokenizer, text, policy)
    return Difference(
        text=text,
        special=policy,
        left=left.name,
        right=right.name,
        left_answer=one,
        right_answer=other,
        stage=stage,
        left_stage=left_stage,
        right_stage=right_stage,
    )


def _smallest(text: str, differs: Callable[[str], bool]) -> str:
    """A text from which no stretch can be taken without the difference going away (Zeller's ddmin).

    >>> _smallest("the quick brown fox", lambda text: "q" in text and "x" in text)
    'qx'
    """
    if not differs(text):  # it took the company of other texts, which must not be
        return text
    step = len(text) // 2
    while step:
        at = 0
        while at < len(text):
            shorter = text[:at] + text[at + step :]
            if shorter and differs(shorter):
                text = shorter
            else:
                at += step
        step //= 2
    return text


def _stage(
    left: Tokenizer | None, right: Tokenizer | None, text: str, policy: Policy
) -> tuple[str, Any, Any]:
    """Where two tokenizers part, and what each has there."""
    if left is None or right is None:
        return "ids", None, None
    try:
        traces = [tokenizer.explain(text, special=policy) for tokenizer in (left, right)]
    except JogakError:
        return "model", None, None
    views: dict[str, Callable[[Any], Any]] = {
        "special tokens": lambda trace: [word.text for word in trace.words if word.special],
        "normalizer": lambda trace: text if trace.normalized is None else trace.normalized,
        "pretokenizer": lambda trace: [word.text for word in trace.words],
        "model": lambda trace: [piece for word in trace.words for piece in word.tokens],
    }
    for stage, view in views.items():
        one, other = (view(trace) for trace in traces)
        if one != other:
            return stage, one, other
    return "model", None, None
