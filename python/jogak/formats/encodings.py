"""Published encodings whose vocabulary is a rank file: their patterns and special tokens, by name.

A ``.tiktoken`` file has neither; the code beside it has. What is here was read out of that code.

Sources: https://github.com/openai/tiktoken, ``tiktoken_ext/openai_public.py``;
https://github.com/meta-llama/llama-models, ``models/llama3`` and ``models/llama4``, ``tokenizer.py``;
https://github.com/meta-llama/llama3, ``llama/tokenizer.py``; https://huggingface.co/Qwen/Qwen-7B,
``tokenization_qwen.py``; https://huggingface.co/moonshotai/Kimi-K2-Instruct, ``tokenizer_config.json``;
https://github.com/openai/whisper, ``whisper/tokenizer.py``
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from jogak.errors import ConfigError
from jogak.formats import patterns
from jogak.spec.record import dataclass

__all__ = ["ENCODINGS", "Encoding", "encoding"]


@dataclass(frozen=True)
class Encoding:
    """What a rank file does not say about itself.

    Args:
        pattern: the words are its matches.
        special_tokens: text -> id.
    """

    pattern: str
    special_tokens: Mapping[str, int]


def _from(start: int, texts: Iterable[str]) -> dict[str, int]:
    return {text: id_ for id_, text in enumerate(texts, start)}


_END = "<|endoftext|>"
_O200K = {_END: 199999, "<|endofprompt|>": 200018}


def _p50k_edit() -> dict[str, int]:
    return {_END: 50256} | _from(50281, ("<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>"))


def _cl100k() -> dict[str, int]:
    texts = (_END, "<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>")
    return _from(100257, texts) | {"<|endofprompt|>": 100276}


def _harmony() -> dict[str, int]:
    named = {
        **{199998: "<|startoftext|>", 199999: _END, 200002: "<|return|>", 200003: "<|constrain|>"},
        **{200005: "<|channel|>", 200006: "<|start|>", 200007: "<|end|>", 200008: "<|message|>"},
        200012: "<|call|>",
    }
    # tiktoken has a second text for the last of these; it decodes to this one.
    named |= {200018: "<|endofprompt|>"}
    return {named.get(id_, f"<|reserved_{id_}|>"): id_ for id_ in range(199998, 201088)}


def _reserved(numbers: Iterable[int], name: str = "") -> list[str]:
    return [f"<|{name}reserved_special_token_{number}|>" for number in numbers]


def _llama_3() -> dict[str, int]:
    return _from(
        128000,
        (
            *("<|begin_of_text|>", "<|end_of_text|>", *_reserved(range(4))),
            *("<|start_header_id|>", "<|end_header_id|>", *_reserved((4,)), "<|eot_id|>"),
            *_reserved(range(5, 251)),
        ),
    )


def _llama_3_1() -> dict[str, int]:
    named = (
        *("<|begin_of_text|>", "<|end_of_text|>", *_reserved(range(2))),
        *("<|finetune_right_pad_id|>", "<|step_id|>", "<|start_header_id|>", "<|end_header_id|>"),
        *("<|eom_id|>", "<|eot_id|>", "<|python_tag|>", "<|image|>"),
    )
    return _from(128000, (*named, *_reserved(range(2, 246))))


def _llama_4() -> dict[str, int]:
    named = (
        *("<|begin_of_text|>", "<|end_of_text|>"),
        *("<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>"),
        *("<|header_start|>", "<|header_end|>", "<|eom|>", "<|eot|>", "<|step|>"),
        *_reserved(range(6), "text_post_train_"),
        *("<|python_start|>", "<|python_end|>", "<|finetune_right_pad|>"),
        *_reserved(range(8, 69), "text_post_train_"),
        *("<|image_start|>", "<|image_end|>", *_reserved(range(2), "vision_")),
        *("<|tile_x_separator|>", "<|tile_y_separator|>", *_reserved(range(2, 6), "vision_")),
        *("<|image|>", *_reserved((6,), "vision_"), "<|patch|>"),
        *_reserved(range(7, 1048), "vision_"),
        *_reserved(range(8), "reasoning_"),
        *("<|reasoning_thinking_start|>", "<|reasoning_thinking_end|>"),
    )
    return _from(200000, (*named, *_reserved(range(2048 - len(named)))))


def _qwen() -> dict[str, int]:
    extra = (f"<|extra_{number}|>" for number in range(205))
    return _from(151643, (_END, "<|im_start|>", "<|im_end|>", *extra))


def _kimi_k2() -> dict[str, int]:
    named = {
        **{163584: "[BOS]", 163585: "[EOS]", 163586: "<|im_end|>", 163587: "<|im_user|>"},
        **{163588: "<|im_assistant|>", 163590: "<|start_header_id|>", 163591: "<|end_header_id|>"},
        **{163593: "[EOT]", 163594: "<|im_system|>", 163595: "<|tool_calls_section_begin|>"},
        **{163596: "<|tool_calls_section_end|>", 163597: "<|tool_call_begin|>"},
        **{163598: "<|tool_call_argument_begin|>", 163599: "<|tool_call_end|>"},
        **{163601: "<|im_middle|>", 163838: "[UNK]", 163839: "[PAD]"},
    }
    ids = range(163584, 163584 + 256)
    return {named.get(id_, f"<|reserved_token_{id_}|>"): id_ for id_ in ids}


_LANGUAGES = (
    "en zh de es ru ko fr ja pt tr pl ca nl ar sv it id hi fi vi he uk el ms cs ro da hu ta no th ur "
    "hr bg lt la mi ml cy sk te fa lv bn sr az sl kn et mk br eu is hy ne mn bs kk sq sw gl mr pa si "
    "km sn yo so af oc ka be tg sd gu am yi lo uz fo ht ps tk nn mt sa lb my bo tl mg as tt haw ln ha "
    "ba jw su yue"
)


def _whisper(start: int, languages: int) -> dict[str, int]:
    tasks = ("translate", "transcribe", "startoflm", "startofprev", "nospeech", "notimestamps")
    names = ("endoftext", "startoftranscript", *_LANGUAGES.split()[:languages], *tasks)
    times = (f"{hundredths / 100:.2f}" for hundredths in range(0, 3001, 2))
    return _from(start, (f"<|{name}|>" for name in (*names, *times)))


#: Name -> pattern, and what gives its special tokens.
ENCODINGS: Mapping[str, tuple[str, Callable[[], dict[str, int]]]] = {
    "gpt2": (patterns.GPT2, lambda: {_END: 50256}),
    "r50k_base": (patterns.GPT2, lambda: {_END: 50256}),
    "p50k_base": (patterns.GPT2, lambda: {_END: 50256}),
    "p50k_edit": (patterns.GPT2, _p50k_edit),
    "cl100k_base": (patterns.CL100K, _cl100k),
    "o200k_base": (patterns.O200K, lambda: dict(_O200K)),
    "o200k_harmony": (patterns.O200K, _harmony),
    "llama-3": (patterns.LLAMA_3, _llama_3),
    "llama-3.1": (patterns.LLAMA_3, _llama_3_1),
    "llama-4": (patterns.O200K, _llama_4),
    "qwen": (patterns.QWEN, _qwen),
    "kimi-k2": (patterns.KIMI, _kimi_k2),
    "whisper-en": (patterns.GPT2, lambda: _whisper(50256, 99)),
    "whisper": (patterns.GPT2, lambda: _whisper(50257, 99)),
    "whisper-large-v3": (patterns.GPT2, lambda: _whisper(50257, 100)),
}


def encoding(name: object) -> Encoding:
    """A published encoding.

    Raises:
        ConfigError: none of that name.

    >>> encoding("qwen").special_tokens["<|im_start|>"]
    151644
    """
    if not isinstance(name, str) or name not in ENCODINGS:
        known = ", ".join(map(repr, ENCODINGS))
        raise ConfigError(f"scheme {name!r} is not known; expected one of {known}")
    pattern, special_tokens = ENCODINGS[name]
    return Encoding(pattern, special_tokens())
