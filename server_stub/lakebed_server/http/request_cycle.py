"""One request from its first byte to the last byte of its response, for the API and for the S3 gateway.

Every exception becomes a response. Every request is counted until its end, and logged.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Final

from lakebed_server.bounds.admission import Admission
from lakebed_server.http.request import Call
from lakebed_server.http.request_log import log_request
from lakebed_server.http.response_writer import Exchange
from lakebed_server.http.responses import Reply
from lakebed_server.vocabulary import ClientGoneError, Receive, RequestError

CLIENT_GONE: Final = 499
"""The status in the log for a request whose client left before the response. It is never sent."""


class RequestCycle:
    """Sends the replies of one interface. `respond` turns an exception into the interface's reply."""

    def __init__(self, admission: Admission, respond: Callable[[Exception, Call], Reply], log: logging.Logger) -> None:
        self._admission = admission
        self._respond = respond
        self._log = log

    async def run(self, call: Call, exchange: Exchange, receive: Receive, answer: Awaitable[Reply]) -> None:
        """Await the reply and send it. Raises nothing but cancellation."""
        try:
            try:
                await exchange.send(await answer, receive)
            except (ClientGoneError, asyncio.CancelledError):
                raise
            except Exception as error:
                if exchange.status:
                    raise
                await exchange.send(self._respond(error, call), receive)
        except asyncio.CancelledError:  # the server stops, and has waited long enough for this request
            if exchange.status:
                raise
            await exchange.send_last(self._respond(_interrupted(call), call))
        except ClientGoneError:
            exchange.status = exchange.status or CLIENT_GONE
        except Exception:
            # the status is sent: close the connection, so that the client does not take the part for the whole response
            self._log.exception("a response broke off", extra={"request_id": call.request_id})
        finally:
            if call.counted:
                self._admission.leave()
            log_request(call, exchange.status, exchange.sent)


def _interrupted(call: Call) -> RequestError:
    """The error of a request that is interrupted because the server stops: 503."""
    if call.method in ("GET", "HEAD"):
        return RequestError("interrupted", "the server stopped before it had answered; ask again")
    return RequestError(
        "interrupted",
        "the server stopped before the request was complete: it may have been done, or not; check before you repeat it",
    )
