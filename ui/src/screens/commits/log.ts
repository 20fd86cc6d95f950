// Pages of the history of a ref. The server filters; it reads a bounded number of commits for one page.
import { api, ok, type Schema } from '../../api/client'

export interface Filters {
  path: string
  /** A part of the name of the committer. */
  author: string
  /** Days of local time, `2026-01-31`, both included. Empty: no limit. */
  from: string
  to: string
}
export interface LogPage {
  rows: Schema['Commit'][]
  /** Where the next page begins. Empty at the end of the history. A page without rows may have a next one. */
  after: string
}

const ROWS = 200

/** The first moment of a day of local time, `days` later, or undefined for a text that is not a day. */
export function dayStart(day: string, days = 0): Date | undefined {
  const date = new Date(`${day}T00:00`)
  if (!/^\d{4}-\d{2}-\d{2}$/.test(day) || Number.isNaN(date.getTime())) return undefined
  date.setDate(date.getDate() + days)
  return date
}

/** The parameters of a page of the log. */
export function queryOf({ path, author, from, to }: Filters, after: string) {
  const paths = !path ? {} : path.endsWith('/') ? { prefixes: [path] } : { objects: [path] }
  const times = { since: dayStart(from)?.toISOString(), until: dayStart(to, 1)?.toISOString() }
  return { ...paths, ...times, author_contains: author || undefined, after, amount: ROWS }
}

export async function readLog(repo: string, ref: string, filters: Filters, after: string, signal: AbortSignal): Promise<LogPage> {
  const params = { path: { repository: repo, ref }, query: queryOf(filters, after) }
  const { results, pagination } = await ok(api.GET('/repositories/{repository}/refs/{ref}/commits', { params, signal }))
  return { rows: results, after: pagination.has_more ? pagination.next_offset : '' }
}
