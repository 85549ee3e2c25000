"""``jogak train``: a corpus becomes a tokenizer file."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jogak.cli import _help
from jogak.cli import _options as options
from jogak.cli._run import STOPPED, print_json, print_trace, say, say_left_out, watched

if TYPE_CHECKING:
    from jogak import Tokenizer

_SHOWN = 10


class Command(_help.Command):
    """``--trace`` may stand without a number."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """A bare ``--trace`` means the first ten merges; all else is parsed as usual."""
        spelled = [f"--trace={_SHOWN}" if arg == "--trace" else arg for arg in args]
        parsed: list[str] = super().parse_args(ctx, spelled)
        return parsed


def train(
    corpus: options.Corpus,
    output: Annotated[
        str,
        typer.Option("--output", "-o", metavar="FILE", help="Where to save.", show_default=False),
    ],
    model: Annotated[
        str, typer.Option(metavar="bpe|wordpiece|unigram", help="The family.")
    ] = "bpe",
    vocab_size: Annotated[
        int | None,
        typer.Option(metavar="N", help="Stop at a vocabulary of this size.  [unigram: 8000]"),
    ] = None,
    num_merges: Annotated[
        int | None, typer.Option(metavar="N", help="Stop after this many merges.")
    ] = None,
    marker: Annotated[
        str | None,
        typer.Option(
            metavar="KIND",
            help="How the border of a word is written: byte-level, none, suffix, prefix or "
            "continuation.  [default: byte-level; wordpiece: continuation]",
        ),
    ] = None,
    marker_text: Annotated[
        str | None, typer.Option(metavar="TEXT", help="The marker itself, such as </w>.")
    ] = None,
    marker_symbol: Annotated[
        str | None,
        typer.Option(
            metavar="own|joined",
            help="Whether a suffix starts as a symbol of its own or joined to the last character.",
        ),
    ] = None,
    ties: Annotated[
        str | None,
        typer.Option(
            metavar="RULE",
            help="Which of the commonest pairs is taken: lowest-id, first-seen, lexicographic, "
            "greatest or sentencepiece.  [default: lowest-id]",
        ),
    ] = None,
    criterion: Annotated[
        str | None,
        typer.Option(
            metavar="likelihood|count",
            help="What the best pair of wordpiece is best at.  [default: likelihood]",
        ),
    ] = None,
    min_pair_count: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Merge no pair that is rarer.  [default: 2; wordpiece: a floor that moves]",
        ),
    ] = None,
    alphabet_size: Annotated[
        int | None, typer.Option(metavar="N", help="Keep only the commonest characters.")
    ] = None,
    character_coverage: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="Keep the characters that make up this share.  [unigram: 0.9995]",
        ),
    ] = None,
    characters: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Keep just these characters.")
    ] = None,
    required_chars: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Keep these characters, frequent or not.")
    ] = None,
    byte_fallback: Annotated[
        bool, typer.Option("--byte-fallback", help="Write unknown characters as bytes.")
    ] = False,
    max_piece_length: Annotated[
        int | None,
        typer.Option(metavar="N", help="No piece is longer, in characters.  [unigram: 16]"),
    ] = None,
    max_chars_per_word: Annotated[
        int | None,
        typer.Option(metavar="N", help="Longer words are unknown to wordpiece.  [default: 100]"),
    ] = None,
    strategy: options.Strategy = None,
    prune_dead: Annotated[
        bool, typer.Option("--prune-dead", help="Drop pieces that nothing needs any more.")
    ] = False,
    unknown: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="The unknown piece.  [default: <unk>; wordpiece: [UNK]]"),
    ] = None,
    no_unknown: Annotated[
        bool, typer.Option("--no-unknown", help="Unknown characters are errors.")
    ] = False,
    fuse_unknown: Annotated[
        bool | None,
        typer.Option(
            "--fuse-unknown/--no-fuse-unknown",
            help="One unknown piece for a run of them.  [default: no; unigram: yes]",
        ),
    ] = None,
    seed_size: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Substrings that unigram starts with.  [default: six times the vocabulary, 20000 or "
            "more]",
        ),
    ] = None,
    seeds: Annotated[
        str | None,
        typer.Option(
            metavar="suffix|sentencepiece", help="Which substrings those are.  [default: suffix]"
        ),
    ] = None,
    shrinking_factor: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE", help="Pieces that stay in a round of unigram.  [default: 0.75]"
        ),
    ] = None,
    num_sub_iterations: Annotated[
        int | None,
        typer.Option(metavar="N", help="Estimations in a round of unigram.  [default: 2]"),
    ] = None,
    precision: Annotated[
        str | None,
        typer.Option(
            metavar="double|single",
            help="How unigram's sums are rounded; a .model needs single.  [default: double]",
        ),
    ] = None,
    user_defined: Annotated[
        list[str] | None,
        typer.Option(metavar="TEXT", help="A text that unigram never cuts. Repeat."),
    ] = None,
    no_hard_vocab_limit: Annotated[
        bool,
        typer.Option("--no-hard-vocab-limit", help="Unigram may end with fewer pieces."),
    ] = False,
    by_scores: Annotated[
        bool, typer.Option("--by-scores", help="Merge by scores, as SentencePiece's bpe does.")
    ] = False,
    split_by_unicode_script: Annotated[
        bool | None,
        typer.Option(
            "--split-by-unicode-script/--no-split-by-unicode-script",
            help="No piece mixes scripts.  [default: no; unigram: yes]",
        ),
    ] = None,
    no_split_by_number: Annotated[
        bool,
        typer.Option("--no-split-by-number", help="Pieces may mix digits with any script."),
    ] = False,
    split_digits: Annotated[
        bool, typer.Option("--split-digits", help="Every digit is a piece of its own.")
    ] = False,
    no_split_by_whitespace: Annotated[
        bool,
        typer.Option("--no-split-by-whitespace", help="Pieces may cross words."),
    ] = False,
    allow_whitespace_only_pieces: Annotated[
        bool,
        typer.Option(
            "--allow-whitespace-only-pieces", help="Pieces may be spaces and nothing else."
        ),
    ] = False,
    treat_whitespace_as_suffix: Annotated[
        bool,
        typer.Option("--treat-whitespace-as-suffix", help="Spaces end pieces, not start them."),
    ] = False,
    normalizer: options.Normalizers = None,
    pretokenizer: options.Pretokenizers = None,
    special_token: Annotated[
        list[str] | None,
        typer.Option(metavar="TEXT[=ID]", help="A special token, with its id or without. Repeat."),
    ] = None,
    format: options.Format = None,
    field: options.Field = None,
    column: options.Column = None,
    documents: options.Documents = None,
    separator: options.Separator = None,
    newline: options.Newline = None,
    errors: options.Errors = None,
    min_word_length: options.MinWordLength = None,
    threads: options.Threads = None,
    trace: Annotated[
        int | None,
        typer.Option(
            metavar="[=N]",
            help=f"Show the first N merges, or rounds of unigram, step by step.  [alone: {_SHOWN}]",
        ),
    ] = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Train a tokenizer and save it.

    \b
    Examples:
      jogak train reviews.txt --vocab-size 32000 -o reviews.jogak.json
      jogak train reviews.tsv --column document --num-merges 8000 -o r.jogak.json
      jogak train words.counts --marker suffix --ties first-seen -o toy.jogak.json
      jogak train reviews.txt --model wordpiece --vocab-size 30000 -o wp.json
      jogak train reviews.txt --model unigram --vocab-size 8000 -o uni.json
      cat *.txt | jogak train - --vocab-size 16000 -o all.jogak.json --trace=5
    """
    import jogak

    config = _config(
        model,
        options.given(
            vocab_size=vocab_size,
            num_merges=num_merges,
            marker=_marker(marker, marker_text, marker_symbol),
            ties=ties,
            criterion=criterion,
            min_pair_count=min_pair_count,
            alphabet_size=alphabet_size,
            character_coverage=character_coverage,
            characters=characters,
            required_chars=required_chars,
            by_scores=by_scores,
            byte_fallback=byte_fallback,
            max_piece_length=max_piece_length,
            max_chars_per_word=max_chars_per_word,
            strategy=strategy,
            prune_dead=prune_dead,
            unknown=unknown,
            seed_size=seed_size,
            seeds=seeds,
            precision=precision,
            shrinking_factor=shrinking_factor,
            num_sub_iterations=num_sub_iterations,
            user_defined=user_defined or None,
            split_digits=split_digits,
            allow_whitespace_only_pieces=allow_whitespace_only_pieces,
            treat_whitespace_as_suffix=treat_whitespace_as_suffix,
        ),
        no_unknown=no_unknown,
        switches={
            "fuse_unknown": fuse_unknown,
            "hard_vocab_limit": False if no_hard_vocab_limit else None,
            "split_by_unicode_script": split_by_unicode_script,
            "split_by_number": False if no_split_by_number else None,
            "split_by_whitespace": False if no_split_by_whitespace else None,
        },
    )
    stopped = False
    try:
        tokenizer = jogak.train(
            options.corpus(corpus),
            config,
            progress=watched(quiet),
            **options.given(
                normalizer=normalizer or None,
                pretokenizer=options.pretokenizer(pretokenizer),
                special_tokens=_special_tokens(special_token),
                format=format,
                field=field,
                column=column,
                documents=documents,
                separator=separator,
                newline=newline,
                errors=errors,
                min_word_length=min_word_length,
                num_threads=threads,
                trace=trace,
            ),
        )
    except jogak.TrainingInterrupted as interrupted:
        tokenizer, stopped = interrupted.tokenizer, True
    tokenizer.save(output)
    _report(tokenizer, output, trace is not None, json, quiet, stopped)
    if stopped:
        raise typer.Exit(STOPPED)


def _config(
    model: str, given: dict[str, Any], *, no_unknown: bool, switches: dict[str, bool | None]
) -> Any:
    """The config of a family; options that it does not have are refused.

    Args:
        model: the family.
        given: the options that were given.
        no_unknown: whether there shall be no unknown piece.
        switches: options that may be switched on and off; None leaves them as the family has them.
    """
    import jogak

    families: dict[str, Any] = {
        "bpe": jogak.BPE,
        "wordpiece": jogak.WordPiece,
        "unigram": jogak.Unigram,
    }
    if model not in families:
        *names, last = families
        raise typer.BadParameter(
            f"{model!r} is not known; expected {', '.join(names)} or {last}", param_hint="--model"
        )
    if no_unknown and "unknown" in given:
        raise typer.BadParameter("--unknown and --no-unknown contradict each other; give one")
    settings = {**given, **{name: on for name, on in switches.items() if on is not None}}
    if no_unknown:
        settings["unknown"] = None
    kind = families[model]
    own = {field.name for field in dataclasses.fields(kind)}
    foreign = [_spelled(name, value) for name, value in settings.items() if name not in own]
    if foreign:
        raise typer.BadParameter(f"--model {model} has no {', '.join(foreign)}; leave that out")
    return kind(**settings)


def _spelled(name: str, value: Any) -> str:
    """An option as it was typed.

    >>> _spelled("split_by_number", False), _spelled("seed_size", 100)
    ('--no-split-by-number', '--seed-size')
    """
    return f"--{'no-' if value is False else ''}{name.replace('_', '-')}"


def _report(
    tokenizer: Tokenizer, output: str, trace: bool, json: bool, quiet: bool, stopped: bool
) -> None:
    training = tokenizer.training
    assert training is not None, "what was trained a moment ago has its log"
    shown = training.trace if trace else None
    if shown is not None and not json:
        print_trace(shown)
    if json:
        summary = {
            "output": output,
            "pieces": len(tokenizer),
            "merges": len(tokenizer.merges),
            "stop": training.stop,
            "report": None if training.report is None else training.report.to_dict(),
        }
        print_json(summary if shown is None else {**summary, "trace": shown.to_dict()})
    if not quiet:
        # Merges are no part of the other vocabularies.
        bpe = tokenizer.spec.model.family == "bpe"
        merges = f", {len(tokenizer.merges):,} of them merges," if bpe else ""
        say_left_out(training.report)
        say(
            f"{'stopped; ' if stopped else ''}saved {len(tokenizer):,} pieces{merges} "
            f"to {output} (stop: {training.stop})"
        )


def _marker(kind: str | None, text: str | None, symbol: str | None) -> Any:
    """The three marker options -> a marker, or None to leave the choice to the config."""
    if text is None and symbol is None:
        return kind
    if kind is None:
        raise typer.BadParameter("--marker-text and --marker-symbol need --marker, such as suffix")
    import jogak

    return jogak.Marker(kind, text, symbol)  # type: ignore[arg-type]  # it checks them itself


def _special_tokens(tokens: list[str] | None) -> list[str] | dict[str, int] | None:
    """``TEXT`` or ``TEXT=ID``, the same for all of them.

    >>> _special_tokens(["<pad>=0", "<a=b>=1"])
    {'<pad>': 0, '<a=b>': 1}
    >>> _special_tokens(["<pad>"])
    ['<pad>']
    """
    if not tokens:
        return None
    split = [token.rpartition("=") for token in tokens]
    with_id = {text: int(id_) for text, _, id_ in split if text and id_.isdecimal()}
    if not with_id:
        return tokens
    if len(with_id) < len(tokens):
        raise typer.BadParameter(
            "give an id to every special token or to none, and every text once",
            param_hint="--special-token",
        )
    return with_id
