// What the screens of hooks share: the words of a run, and the rows of results of its hooks.
import type { Component } from 'svelte'
import CircleCheck from '@lucide/svelte/icons/circle-check'
import CircleMinus from '@lucide/svelte/icons/circle-minus'
import CircleX from '@lucide/svelte/icons/circle-x'
import Clock from '@lucide/svelte/icons/clock'
import LoaderCircle from '@lucide/svelte/icons/loader-circle'
import TriangleAlert from '@lucide/svelte/icons/triangle-alert'
import { api, ok, type Schema } from '../../api/client'

export type Run = Schema['ActionRun']
export type HookRun = Schema['HookRun']
export type Delivery = Schema['HookDelivery']
export type Detail = Schema['HookDetail']

const OPERATIONS = ['merge', 'commit', 'create-branch', 'delete-branch', 'create-tag', 'delete-tag', 'revert', 'cherry-pick', 'reset']

/** The events that people can run actions of by hand. */
export const EVENTS = ['prepare-commit', ...OPERATIONS.flatMap((one) => [`pre-${one}`, `post-${one}`])]

export const seconds = (date: string) => Date.parse(date) / 1000

type Icon = Component<{ size?: number }>
export const STATES: Record<string, { icon: Icon; tone: 'added' | 'removed' | 'changed' | 'muted' }> = {
  running: { icon: LoaderCircle, tone: 'changed' },
  passed: { icon: CircleCheck, tone: 'added' },
  refused: { icon: CircleX, tone: 'removed' },
  error: { icon: TriangleAlert, tone: 'removed' },
  pending: { icon: Clock, tone: 'changed' },
  skipped: { icon: CircleMinus, tone: 'muted' },
  waiting: { icon: Clock, tone: 'changed' },
  failed: { icon: CircleX, tone: 'removed' },
}

/** The state of a run or of a hook. A server that is older than the page sends `status` only. */
export const stateOf = (one: { state?: string; status: string }) => one.state ?? (one.status === 'completed' ? 'passed' : one.status)

/** Whether a state is an end at which somebody has something to repair. */
export const isBad = (state: string) => state === 'refused' || state === 'error' || state === 'pending'

/** How long it took, or has taken so far: `0.3 s`, `12 s`, `3 min 5 s`, `2 h 4 min`. */
export function duration(start: string, end: string | undefined, now = Date.now()): string {
  const took = Math.max(0, ((end === undefined ? now : Date.parse(end)) - Date.parse(start)) / 1000)
  if (took < 9.95) return `${took.toFixed(1)} s`
  const whole = Math.round(took)
  if (whole < 60) return `${whole} s`
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`
}

/** One result of a contract: a check of a file, or of all files. */
export interface Result {
  file: string
  check: string
  isBad: boolean
  message: string
  rows?: number
  bad?: number
  values: { row?: number; value: string }[]
}

/** The results of a contract, those that are broken first. A field of another type is left out. */
export function resultsOf(details: Detail[]): Result[] {
  const all = details.map((one) => {
    const column = text(one.column)
    const values = Array.isArray(one.values) ? (one.values as unknown[]) : []
    return {
      file: text(one.file),
      check: column ? `${text(one.check)}(${column})` : text(one.check),
      isBad: one.state !== 'passed',
      message: text(one.message),
      rows: number(one.rows),
      bad: number(one.bad),
      values: values.map((value) => {
        const fields = typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : { value }
        return { row: number(fields.row), value: cell(fields.value) }
      }),
    }
  })
  return [...all.filter((one) => one.isBad), ...all.filter((one) => !one.isBad)]
}

const MOST_COLUMNS = 8

/** Rows of any fields, such as a Python check returns, as a table of text. Later columns are left out. */
export function tableOf(details: Detail[]): { columns: string[]; rows: string[][] } {
  const columns = [...new Set(details.flatMap((one) => Object.keys(one)))].slice(0, MOST_COLUMNS)
  return { columns, rows: details.map((one) => columns.map((name) => (name in one ? cell(one[name]) : ''))) }
}

const text = (value: unknown) => (typeof value === 'string' ? value : '')
const number = (value: unknown) => (typeof value === 'number' ? value : undefined)

function cell(value: unknown): string {
  if (value === null || value === undefined) return '∅'
  return typeof value === 'string' ? value : JSON.stringify(value)
}

const POLL = 1500 // milliseconds

/** A query: the hooks of a run, in order, with those that were not called. Asks again while the run runs. */
export function hooksOf(repo: string, run: string, isRunning = false) {
  return {
    queryKey: ['repo', repo, 'run', run, 'hooks'],
    queryFn: async ({ signal }: { signal: AbortSignal }) => {
      const found: HookRun[] = []
      let after = ''
      for (;;) {
        const params = { path: { repository: repo, run_id: run }, query: { after, amount: 1000, skipped: true } }
        const page = await ok(api.GET('/repositories/{repository}/actions/runs/{run_id}/hooks', { params, signal }))
        found.push(...page.results)
        if (!page.pagination.has_more) return found
        after = page.pagination.next_offset
      }
    },
    refetchInterval: isRunning ? POLL : (false as const),
  }
}

/** A query: one run. Asks again while it runs. */
export function runOf(repo: string, id: string) {
  return {
    queryKey: ['repo', repo, 'run', id],
    queryFn: ({ signal }: { signal: AbortSignal }) => {
      const params = { path: { repository: repo, run_id: id } }
      return ok(api.GET('/repositories/{repository}/actions/runs/{run_id}', { params, signal }))
    },
    refetchInterval: (query: { state: { data?: Run } }) => (query.state.data?.state === 'running' ? POLL : (false as const)),
  }
}

/** A query: the newest run of a merge of this commit into a branch, or null. */
export function mergeRunOf(repo: string, branch: string, source: string | undefined, isAllowed: boolean) {
  return {
    queryKey: ['repo', repo, 'runs', branch, 'of', source],
    enabled: isAllowed && source !== undefined,
    refetchInterval: 10_000,
    queryFn: async ({ signal }: { signal: AbortSignal }) => {
      const params = { path: { repository: repo }, query: { branch, amount: 100 } }
      const { results } = await ok(api.GET('/repositories/{repository}/actions/runs', { params, signal }))
      return results.find((run) => run.event_type === 'pre-merge' && run.source_ref === source) ?? null
    },
  }
}

/** A query: the pull request that a run of a merge was about, or an empty string. An open one does not name its commit. */
export function pullOf(repo: string, run: Run | undefined) {
  return {
    queryKey: ['repo', repo, 'run', run?.run_id ?? '', 'pull'],
    enabled: run !== undefined && /^(pre|post)-merge$/.test(run.event_type),
    staleTime: 60_000,
    queryFn: async ({ signal }: { signal: AbortSignal }) => {
      const params = { path: { repository: repo }, query: { status: 'all' as const, amount: 100 } }
      const { results } = await ok(api.GET('/repositories/{repository}/pulls', { params, signal }))
      const ids = [run?.commit_id, run?.source_ref].filter(Boolean)
      const sources = await branchesAt(repo, results, run, signal)
      const found = results.find(
        (one) =>
          one.destination_branch === run?.branch &&
          (ids.includes(one.merged_commit_id) || ids.includes(one.source_commit_id) || (one.status === 'open' && sources.has(one.source_branch))),
      )
      return found?.id ?? ''
    },
  }
}

/** The source branches of open pull requests whose head is the source of a run. */
async function branchesAt(repo: string, pulls: Schema['PullRequest'][], run: Run | undefined, signal: AbortSignal): Promise<Set<string>> {
  if (!pulls.some((one) => one.status === 'open' && one.destination_branch === run?.branch)) return new Set()
  const params = { path: { repository: repo }, query: { amount: 1000 } }
  const { results } = await ok(api.GET('/repositories/{repository}/branches', { params, signal }))
  return new Set(results.filter((one) => one.commit_id === run?.source_ref).map((one) => one.id))
}
