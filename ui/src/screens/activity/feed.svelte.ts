// The events of a repository: those of the last days, and those that come while the screen is open.
import { api, BASE, ok, type Schema } from '../../api/client'
import { noticeEnd } from '../../lib/session.svelte'

export type Event = Schema['Event']
export type State = 'opening' | 'live' | 'broken' | 'paused'

/** The types of docs/events.md. EventSource tells a page only of the types that it names. */
const TYPES = [
  ...['created', 'changed', 'deleted'].map((one) => `repository.${one}`),
  ...['created', 'committed', 'merged', 'reverted', 'cherry_picked', 'imported', 'reset', 'deleted'].map((one) => `branch.${one}`),
  ...['created', 'deleted'].map((one) => `tag.${one}`),
  ...['opened', 'edited', 'reviewed', 'dismissed', 'commented', 'closed', 'reopened', 'merged'].map((one) => `pull.${one}`),
  'protection.changed',
  'check.reported',
]
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

/** The live feed. The browser connects again by itself, and this class does where the browser gives up. */
export class Feed {
  state = $state<State>('opening')
  #source: EventSource | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  #last: string

  constructor(
    readonly repo: string,
    readonly type: string,
    after: string,
    readonly onevent: (event: Event) => void,
  ) {
    this.#last = after
  }

  open(): void {
    this.close()
    this.state = 'opening'
    const query = new URLSearchParams({ after: this.#last, ...(this.type && { type: this.type }) })
    const source = new EventSource(`${BASE}/repositories/${encodeURIComponent(this.repo)}/events?${query}`)
    source.onopen = () => (this.state = 'live')
    source.onerror = () => {
      this.state = 'broken'
      if (source.readyState === EventSource.CLOSED) this.#timer = setTimeout(() => void this.#again(), RETRY_SECONDS * 1000)
    }
    for (const type of TYPES) source.addEventListener(type, (message) => this.#take(message))
    this.#source = source
  }

  pause(): void {
    this.close()
    this.state = 'paused'
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#source?.close()
    this.#source = undefined
  }

  /** EventSource does not say why the server refused: ask, so that an ended session opens the sign-in dialog. */
  async #again(): Promise<void> {
    const timer = this.#timer
    const query = { after: this.#last, amount: 1 }
    try {
      await ok(api.GET('/repositories/{repository}/events', { params: { path: { repository: this.repo }, query } }))
    } catch (failed) {
      noticeEnd(failed)
    }
    if (timer === this.#timer && this.state === 'broken') this.open()
  }

  #take(message: MessageEvent<string>): void {
    if (message.lastEventId) this.#last = message.lastEventId
    this.onevent(JSON.parse(message.data) as Event)
  }
}
