"""A service, made of what the options say."""

import argparse

from forwarder.api.activity import Activity
from forwarder.api.background import Forwards
from forwarder.api.delivery import Polls
from forwarder.api.ending import Ending
from forwarder.api.incoming import Incoming
from forwarder.api.metrics import Metrics
from forwarder.api.service import Service
from forwarder.client import Forwarder
from forwarder.futures.clock import Clock
from forwarder.futures.journal import Journal, NoJournal
from forwarder.futures.limits import Limits, Ttl
from forwarder.futures.sqlite_journal import SqliteJournal
from forwarder.futures.store import Futures


def ttl_of(options: argparse.Namespace) -> Ttl:
    """The times of futures. Raises ValueError for what cannot be."""
    return Ttl(
        undelivered_ms=options.undelivered_ttl_s * 1000,
        retrieved_ms=options.retrieved_ttl_s * 1000,
        session_ms=options.session_ttl_s * 1000,
        hold_ms=options.hold_s * 1000,
    )


def limits_of(options: argparse.Namespace) -> Limits:
    """How much is kept. Raises ValueError for what cannot be."""
    return Limits(max_bytes=options.max_stored_bytes, max_futures=options.max_futures)


def journal_of(options: argparse.Namespace) -> Journal:
    """Where accepted operations and results are written."""
    return SqliteJournal(options.store) if options.store else NoJournal()


async def service_of(options: argparse.Namespace, forwarder: Forwarder, metrics: Metrics, clock: Clock) -> Service:
    """All parts, around a started forwarder. Raises JournalError when the store's file cannot be used."""
    ttl = ttl_of(options)
    futures = await Futures.open(clock=clock, journal=journal_of(options), ttl=ttl, limits=limits_of(options))
    activity = Activity()
    forwards = Forwards(forwarder, futures, activity, metrics)
    service = Service(
        forwarder=forwarder,
        futures=futures,
        forwards=forwards,
        polls=Polls(futures, clock, activity, hold_ms=ttl.hold_ms),
        activity=activity,
        incoming=Incoming(activity, futures.room, max_bytes=options.max_body_bytes, timeout_s=options.body_timeout_s),
        metrics=metrics,
        ending=Ending(forwarder, forwards, futures, drain_s=options.drain_s),
        models=tuple(options.model),
    )
    metrics.read(
        {
            "forwarder_in_flight": ("Operations without an outcome.", lambda: service.in_flight),
            "forwarder_undelivered": ("Outcomes that nobody can have got.", lambda: futures.counts.undelivered),
            "forwarder_delivered": ("Outcomes kept after a possible delivery.", lambda: futures.counts.delivered),
            "forwarder_evictions": ("Outcomes gone after a possible delivery.", lambda: futures.counts.evicted),
            "forwarder_expirations": ("Outcomes gone that were never delivered.", lambda: futures.counts.expired),
            "forwarder_stored_bytes": ("Bytes that are kept or reserved.", lambda: futures.counts.stored_bytes),
            "forwarder_unwritten": ("Outcomes that could not be written.", lambda: futures.counts.unwritten),
            "forwarder_sessions": ("Sessions that live.", lambda: futures.counts.sessions),
        }
    )
    return service
