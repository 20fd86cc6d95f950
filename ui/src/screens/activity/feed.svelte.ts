// The events of a repository: those of the last days, and those that come while the screen is open.
import { EventSourceParserStream, type EventSourceMessage } from 'eventsource-parser/stream'
import { api, BASE, noAnswer, ok, refused, type Schema } from '../../api/client'
import { noticeEnd } from '../../lib/session.svelte'

export type Event = Schema['Event']
export type State = 'opening' | 'live' | 'broken' | 'paused'

const HOUR = 3_600_000
const SPANS = [7 * 24 * HOUR, 24 * HOUR, HOUR] // the longest one whose events fit into PAGES
const PAGES = 5
const RETRY_SECONDS = 3

/** The `logical_timestamp` of a time in Unix milliseconds. More than a number of JavaScript holds exactly. */
const placeOf = (milliseconds: number) => (BigInt(milliseconds) * (1n << 20n)).toString()

export interface Past {
  events: Event[]
  /** The place where the live feed begins. */
  next: string
}

/** The events of the last days, the oldest first. A span with too many events is shortened. */
export async function readPast(repo: string, type: string, signal: AbortSignal): Promise<Past> {
  let events: Event[] = []
  let after = ''
  for (const span of SPANS) {
    events = []
    after = placeOf(Date.now() - span)
    for (let number = 0; number < PAGES; number += 1) {
      const query = { after, amount: 1000, ...(type && { type }) }
      const page = await ok(api.GET('/repositories/{repository}/events', { params: { path: { repository: repo }, query }, signal }))
      events.push(...page.results)
      after = page.pagination.next_offset || after
      if (!page.pagination.has_more) return { events, next: after }
    }
  }
  return { events, next: after } // the feed brings the rest
}

/** Newest first, and each event once. Those of the last seconds have no place yet: they are the newest. */
export function newestFirst(events: Iterable<Event>): Event[] {
  const byId = new Map<string, Event>()
  for (const one of events) if (one.logical_timestamp || !byId.has(one.id)) byId.set(one.id, one)
  return [...byId.values()].sort(compare)
}

function compare(left: Event, right: Event): number {
  if (left.logical_timestamp && right.logical_timestamp) {
    const [a, b] = [BigInt(left.logical_timestamp), BigInt(right.logical_timestamp)]
    return a < b ? 1 : a > b ? -1 : 0
  }
  if (left.logical_timestamp) return 1
  if (right.logical_timestamp) return -1
  return Date.parse(right.time) - Date.parse(left.time)
}

/**
 * The live feed. It connects again after `RETRY_SECONDS`, and continues after the last event that came.
 *
 * Not an `EventSource` of the browser: that one tells a page only of the types that it names, and not why the server
 * refused it.
 */
export class Feed {
  state = $state<State>('opening')
  #stop: AbortController | undefined
  #last: string
  #hasSeen = false // an event, so that the server says `reset` if the next ones are gone

  /** `onreset`: events that this page has not got were deleted, so what it shows must be read again. */
  constructor(
    readonly repo: string,
    readonly type: string,
    after: string,
    readonly onevent: (event: Event) => void,
    readonly onreset: () => void,
  ) {
    this.#last = after
  }

  open(): void {
    this.close()
    this.state = 'opening'
    this.#stop = new AbortController()
    void this.#follow(this.#stop.signal)
  }

  pause(): void {
    this.close()
    this.state = 'paused'
  }

  close(): void {
    this.#stop?.abort()
    this.#stop = undefined
  }

  async #follow(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.#read(signal)
      } catch (failed) {
        if (!signal.aborted) noticeEnd(failed)
      }
      if (signal.aborted) return
      this.state = 'broken'
      await new Promise((resolve) => setTimeout(resolve, RETRY_SECONDS * 1000))
    }
  }

  /** Read until the server ends the feed. Throws ApiError when it refuses it. */
  async #read(signal: AbortSignal): Promise<void> {
    const query = new URLSearchParams({ after: this.#last, ...(this.type && { type: this.type }) })
    const address = `${BASE}/repositories/${encodeURIComponent(this.repo)}/events?${query}`
    const headers: Record<string, string> = { Accept: 'text/event-stream', ...(this.#hasSeen && { 'Last-Event-ID': this.#last }) }
    const response = await fetch(address, { headers, signal }).catch(() => Promise.reject(noAnswer()))
    if (!response.ok || !response.body) throw refused(response.status, await response.json().catch(() => undefined))
    this.state = 'live'
    const messages = response.body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream()).getReader()
    for (;;) {
      const { done, value } = await messages.read()
      if (done) return
      if (!signal.aborted) this.#take(value)
    }
  }

  #take(message: EventSourceMessage): void {
    if (message.id) {
      this.#last = message.id
      this.#hasSeen = true
    }
    if (message.event === 'reset') this.onreset()
    else this.onevent(JSON.parse(message.data) as Event)
  }
}
