// What the screens of pull requests share.
import type { Schema } from '../../api/client'

export type PullRequest = Schema['PullRequest']

export const seconds = (date: string) => Date.parse(date) / 1000

/** The path of one pull request in calls of the API. */
export const pathOf = (repo: string, id: string) => ({ repository: repo, pull_request: id })

export const TONES = { open: 'added', merged: 'accent', closed: 'removed' } as const

export const toneOf = (status: string) => TONES[status as keyof typeof TONES] ?? 'plain'
