// Pages of the history of a ref. The server filters by path and by the first day; author and last day are filtered here.
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
  /** Where the next page begins. Empty at the end of the history. */
  after: string
  /** The commits that were read for this page. */
  searched: number
}

const ROWS = 200
const ROWS_SEARCHED = 1000 // of one answer
const ENOUGH = 100 // rows of a page that is searched
export const MOST_SEARCHED = 5000 // commits read for one page

/** The first moment of a day of local time, `days` later, or undefined for a text that is not a day. */
export function dayStart(day: string, days = 0): Date | undefined {
  const date = new Date(`${day}T00:00`)
  if (!/^\d{4}-\d{2}-\d{2}$/.test(day) || Number.isNaN(date.getTime())) return undefined
  date.setDate(date.getDate() + days)
  return date
}

/** The condition that a commit must meet, or undefined without one. */
export function condition({ author, to }: Filters): ((commit: Schema['Commit']) => boolean) | undefined {
  const end = dayStart(to, 1)
  const name = author.toLowerCase()
  if (!end && !name) return undefined
  return (commit) => commit.committer.toLowerCase().includes(name) && (!end || commit.creation_date * 1000 < end.getTime())
}

export async function readLog(repo: string, ref: string, filters: Filters, after: string, signal: AbortSignal): Promise<LogPage> {
  const fits = condition(filters)
  const { path } = filters
  const paths = !path ? {} : path.endsWith('/') ? { prefixes: [path] } : { objects: [path] }
  const rows: Schema['Commit'][] = []
  let searched = 0
  for (;;) {
    const query = { ...paths, since: dayStart(filters.from)?.toISOString(), after, amount: fits ? ROWS_SEARCHED : ROWS }
    const page = await ok(api.GET('/repositories/{repository}/refs/{ref}/commits', { params: { path: { repository: repo, ref }, query }, signal }))
    searched += page.results.length
    rows.push(...(fits ? page.results.filter(fits) : page.results))
    after = page.pagination.has_more ? page.pagination.next_offset : ''
    if (!after || !fits || rows.length >= ENOUGH || searched >= MOST_SEARCHED) return { rows, after, searched }
  }
}
