// Rows of the access history, the newest first. The server sends all rows of a time as an Arrow stream, the oldest
// first. So a page asks for short times, and for longer ones where there are few rows.
import { tableFromIPC } from '@uwdata/flechette'
import { api, ok } from '../../api/client'
import { t } from '../../strings'

/** A row; docs/audit.md has the meaning of its columns. `time` is in milliseconds. */
export interface Row {
  key: string
  time: number
  user: string
  source_ip: string
  client: string
  operation: string
  ref: string
  path: string
  status: number
}
export interface Filters {
  user: string
  path: string
  operation: string
  refused: boolean
}
export interface HistoryPage {
  rows: Row[]
  /** Where the next page ends, in milliseconds. */
  until: number
}

const HOUR = 3_600_000 // milliseconds
const FACTOR = 8 // from one time to the next longer one
const ENOUGH = 100 // rows of a page
const MOST_BYTES = 32_000_000 // of one answer: more make the browser slow

/** The page that ends at `until`. `oldest`: the beginning of the history. Both are in milliseconds. */
export async function readPage(repo: string, filters: Filters, oldest: number, until: number, signal: AbortSignal): Promise<HistoryPage> {
  const rows: Row[] = []
  let span = HOUR
  while (rows.length < ENOUGH && until > oldest) {
    const since = Math.max(oldest, until - span)
    const found = await readRows(repo, filters, since, until, signal)
    if (found) {
      rows.push(...found)
      until = since
      span *= FACTOR
    } else {
      if (span <= HOUR) throw new Error(t.history.tooMany)
      span = Math.max(HOUR, span / FACTOR)
    }
  }
  return { rows, until }
}

/** The rows of a time, or null if they are too many. */
async function readRows(repo: string, filters: Filters, since: number, until: number, signal: AbortSignal): Promise<Row[] | null> {
  const query = {
    since: new Date(since).toISOString(),
    until: new Date(until).toISOString(),
    user: filters.user || undefined,
    path: filters.path || undefined,
    operation: filters.operation || undefined,
    refused: filters.refused || undefined,
  }
  const params = { path: { repository: repo }, query }
  const body = await ok(api.GET('/repositories/{repository}/history', { params, parseAs: 'stream', signal }))
  const bytes = body && (await contentOf(body))
  if (!bytes) return null
  const rows = tableFromIPC(bytes).toArray() as Omit<Row, 'key'>[]
  return rows.map((row, index) => ({ ...row, key: `${since}-${index}` })).sort((a, b) => b.time - a.time)
}

/** All bytes of a stream, or null if they are too many. */
async function contentOf(body: ReadableStream<Uint8Array>): Promise<Uint8Array | null> {
  const reader = body.getReader()
  const parts: Uint8Array<ArrayBuffer>[] = []
  let size = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return new Uint8Array(await new Blob(parts).arrayBuffer())
    parts.push(value as Uint8Array<ArrayBuffer>)
    size += value.length
    if (size > MOST_BYTES) {
      await reader.cancel()
      return null
    }
  }
}
