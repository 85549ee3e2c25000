"""How the help of a verb is laid out.

typer's own layout of arguments changes with its version, and names their Python types; here they are
written as manual pages write them: ``jogak encode [OPTIONS] [FILE]...``
"""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand

__all__ = ["Command"]


class Command(TyperCommand):
    """A verb."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The usage line behind ``jogak VERB``."""
        arguments = [param for param in self.get_params(ctx) if param.param_type_name == "argument"]
        return ["[OPTIONS]", *map(_written, arguments)]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """The sections that explain arguments and options."""
        params: list[Any] = self.get_params(ctx)
        arguments = [param for param in params if param.param_type_name == "argument"]
        options = [param for param in params if param.param_type_name == "option"]
        if arguments:
            with formatter.section("Arguments"):
                formatter.write_dl([(_written(param), param.help) for param in arguments])
        with formatter.section("Options"):
            formatter.write_dl(
                list(filter(None, (option.get_help_record(ctx) for option in options)))
            )


def _written(argument: Any) -> str:
    """``FILE``, ``[FILE]`` if it may be left out, with ``...`` if there may be many."""
    name = argument.metavar or argument.name.upper()
    name = name if argument.required else f"[{name}]"
    return name if argument.nargs == 1 else f"{name}..."
