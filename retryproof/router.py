"""`retryproof router`: the fake router alone, for foreign subjects and for containers."""

from typing import Annotated

import typer




def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("router")(router)


def router(
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[
        list[int] | None, typer.Option(min=0, max=65_535, help="A port; repeat it for several upstreams. 0: any.")
    ] = None,
    control_port: Annotated[int, typer.Option(min=0, max=65_535, help="The port of the control API. 0: any.")] = 0,
) -> None:
    """Run the fake router alone, with its control port.

    One JSON line on standard output names the addresses when it is ready. The control API arms plans (POST /arm),
    opens gates (POST /gates/NAME), heals (POST /heal), settles (POST /drain), reads the ledger (GET /ledger?since=N,
    JSON lines) and starts over (POST /reset).
    """
    from fake_router.__main__ import serve  # noqa: PLC0415

    raise typer.Exit(serve(host=host, ports=port or [0], control_port=control_port))
