"""What a subject's keys say, wherever they come from: a TOML file, a command line, or a module."""

import ssl
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from faults.evidence import Contract, Marker
from suites.body_template import BodyTemplateError, read_template
from suites.futures.offer import offer_in
from suites.listening import OF_TLS, identity_in, listening_at
from suites.load.terms import terms_in
from suites.markers import markers_in
from suites.placeholders import FIXED, PlaceholderError, mentions
from suites.run import Promise, SubjectFacts
from suites.speech import NO_SERVER, OF_A_SERVER, PROTOCOLS, TINKER, Channel, apis_in, speech_in
from suites.subject import Address, Isolation, SubjectSpec
from suites.subject_keys import KEYS, NEEDED, OF_A_PROCESS, is_file_name
from suites.subject_text import SubjectFile, require_filled


class SubjectFileError(ValueError):
    """A subject that cannot be used: one message with file, key, value and what was expected (exit code 2)."""


class SubjectReader:
    """The keys of one subject being read. where: whose they are, for messages; here: from where its paths start."""

    def __init__(self, where: str, here: Path, data: dict[str, Any], variant: str | None = None) -> None:
        self.where = where
        self.here = here
        variants = data.pop("variants", {})
        if not isinstance(variants, dict) or not all(isinstance(table, dict) for table in variants.values()):
            raise self.error("variants", variants, "a table of tables, [variants.NAME]")
        for name in variants:
            if variant in (None, name):
                self.check(variants[name], f"variants.{name}.")
        if variant is not None and variant not in variants:
            raise self.error("variants", variant, f"one of {', '.join(variants) or 'none: this file has no variants'}")
        self.check(data, "")
        self.data = data
        if variant is not None:
            if "name" in data:
                data["name"] = f"{data['name']}:{variant}"
            for key, value in variants[variant].items():
                data[key] = {**data.get(key, {}), **value} if isinstance(value, dict) else value

    def error(self, key: str, value: object, expected: str) -> SubjectFileError:
        return SubjectFileError(f"{self.where}: {key} is {value!r}; expected {expected}")

    def check(self, table: dict[str, Any], prefix: str) -> None:
        for key, value in table.items():
            if key not in KEYS:
                raise SubjectFileError(
                    f"{self.where}: unknown key {prefix + key!r}; expected some of {', '.join(KEYS)}"
                )
            fits, expected = KEYS[key]
            if not fits(value):
                raise self.error(prefix + key, value, expected)

    def subject(self) -> SubjectFile:
        """The subject. Raises SubjectFileError for keys that are missing, or that do not go together."""
        data = self.data
        self.check_needed()
        self.check_names()
        file = SubjectFile(
            spec=self.spec(),
            speech=speech_in(data["speaks"]),
            channel=self.channel(),
            command=tuple(data.get("command", ())),
            url=data.get("url", ""),
            here=self.here,
            version=tuple(data.get("version", ())),
            install=data.get("install", ""),
            needs=tuple(data.get("needs", ())),
            ready=data.get("ready", "tcp"),
            ready_says=data.get("ready_says", ""),
            idle=data.get("idle", ""),
            headers=data.get("headers", {}),
            body=self.body(),
            ca_file=self.ca_file(),
            not_executed=self.not_executed(),
            values=data.get("values", {}),
            tls=data.get("tls", {}),
            names=data.get("names", {}),
            files=data.get("files", {}),
            offer=offer_in(data.get("futures", {})),
            load=terms_in(data.get("load", {})),
        )
        try:
            require_filled(file)
        except PlaceholderError as error:
            raise SubjectFileError(f"{self.where}: {error}") from None
        return file

    def check_needed(self) -> None:
        data = self.data
        started = "url" not in data
        for key in (*NEEDED, *(("command",) if started else ("listen",))):
            if key not in data:
                hint = ", or `url` of one that runs already" if key == "command" else ""
                raise SubjectFileError(f"{self.where}: the key {key!r} is missing; expected {KEYS[key][1]}{hint}")
        if "quiet_ms" not in data and "idle" not in data and self.channel() is Channel.HTTP:
            raise SubjectFileError(
                f"{self.where}: the key 'quiet_ms' is missing; expected {KEYS['quiet_ms'][1]} (longer than the longest "
                "back-off plus the connect time-out), or `idle`, a path that tells what is in flight"
            )
        for key in ("listen", "ca_file", *OF_TLS) if started else OF_A_PROCESS:
            if key in data:
                why = "only with `url`" if started else "it not beside `url`: what it names runs already, and is one"
                raise self.error(key, data[key], why)

    def check_names(self) -> None:
        for name in self.data.get("files", {}):
            if not is_file_name(name):
                raise self.error("files", name, "a relative file name that stays inside {dir}")
        for name in self.data.get("values", {}):
            if name in FIXED or not name.isidentifier():
                raise self.error("values", name, f"a word other than {', '.join(FIXED)}")
        for key, where in (("names", "are names"), ("tls", "speak TLS")):
            for name in self.data.get(key, {}):
                if name not in self.data.get("values", {}):
                    raise self.error(key, name, f"one of [values]: what it means where the upstreams {where}")

    def check_protocol(self) -> None:
        """What it says goes with how it speaks."""
        speaks, promises = self.data["speaks"], self.data["promises"]
        protocol = PROTOCOLS[speech_in(speaks)]
        if promises not in protocol.promises:
            raise self.error("promises", promises, f"{' or '.join(protocol.promises)} where it speaks {speaks!r}")
        for key in protocol.without:
            if key in self.data:
                raise self.error(key, self.data[key], f"no such key where it speaks {speaks!r}")
        for key in OF_A_SERVER if self.channel() is Channel.LINES else ():
            if key in self.data:
                raise self.error(key, self.data[key], f"no such key where it is asked by {Channel.LINES.value!r}")
        if self.channel() is Channel.LINES and speaks == TINKER:
            raise self.error("speaks", speaks, f"another protocol where it is asked by {Channel.LINES.value!r}")

    def channel(self) -> Channel:
        """How operations come to it."""
        return Channel(self.data.get("asked", Channel.HTTP.value))

    def body(self) -> str:
        try:
            return read_template(self.data["body"], self.here) if "body" in self.data else ""
        except BodyTemplateError as error:
            raise SubjectFileError(f"{self.where}: body is {error}") from None
        except (OSError, ValueError) as error:
            expected = f"the path of a template, or its text ({error})"
            raise self.error("body", self.data["body"], expected) from None

    def ca_file(self) -> Path | None:
        if "ca_file" not in self.data:
            return None
        path = self.here / str(self.data["ca_file"])
        try:
            ssl.create_default_context(cafile=path)
        except OSError as error:  # SSLError among them
            raise self.error("ca_file", self.data["ca_file"], f"a file with certificates in PEM ({error})") from None
        return path

    def listen(self) -> tuple[Address, ...]:
        """The addresses at which the router has to be. Raises SubjectFileError unless they are on one host."""
        try:
            addresses = listening_at(self.data.get("listen", ())).addresses
        except ValueError as error:
            raise SubjectFileError(f"{self.where}: listen is {error}") from None
        own = urlsplit(self.data.get("url", ""))
        if (own.hostname, own.port) in addresses:
            raise self.error("listen", self.data["listen"], f"other addresses than the forwarder's own ({own.netloc})")
        return addresses

    def spec(self) -> SubjectSpec:
        """What is known of it before it runs."""
        data = self.data
        self.check_protocol()
        listen = self.listen()
        identity = identity_in(data, self.here, self.error)
        reach = {key: why for key, why in data.get("reach", {}).items() if why is not True}
        called = self.channel() is Channel.LINES
        reach = {**PROTOCOLS[speech_in(data["speaks"])].unasked, **(NO_SERVER if called else {}), **reach}
        apis = apis_in(data["speaks"])
        if "body" in data:
            reach.setdefault("streaming", "its body is a template, which is the same for every operation")
            reach.setdefault("body_bytes", "its body is a template, which cannot be made longer")
        if "body" in data or urlsplit(data.get("url", "")).path not in ("", "/"):
            apis = apis[:1]
        tables = (data.get(key, {}).values() for key in ("files", "values", "tls", "names"))
        texts = tuple(chain(data.get("command", ()), *tables))
        return SubjectSpec(
            facts=SubjectFacts(
                name=data["name"],
                promises=Promise(data["promises"]),
                contract=Contract(not_accepted=markers_in(data, "contract", "not_accepted", self.error)),
                attempts=data.get("attempts", 2),
                called=called,
                rewrites=data.get("rewrites", False),
            ),
            upstreams=len(listen) or data.get("upstreams", 1),
            connect_timeout_ms=data["connect_timeout_ms"],
            read_timeout_ms=data["read_timeout_ms"],
            quiet_ms=None if "idle" in data else data.get("quiet_ms"),
            isolation=Isolation.SHARED if listen else Isolation(data.get("isolation", Isolation.FRESH.value)),
            listen=listen,
            probes=data.get("probes", ()),
            reach={key: why or f"its subject file says that {key} cannot be reached" for key, why in reach.items()},
            tls=identity is not None if listen else "tls" in data or mentions("scheme", texts),
            identity=identity,
            pool=not listen and mentions("max_connections", texts),
            names=not listen and mentions("name_server", texts),
            call_ms=data.get("call_ms", 0),
            start_ms=data.get("start_ms", 10_000),
            apis=apis,
            passes_expect=data.get("passes_expect", False),
        )

    def not_executed(self) -> tuple[Marker, ...]:
        """Its answers that claim so."""
        least = PROTOCOLS[speech_in(self.data["speaks"])].failures_from
        return markers_in(self.data, "says", "not_executed", self.error, least=least)
