import type { Schema } from '../../api/client'

export type Stats = Schema['ObjectStats']

/** What every viewer gets. `stats` is the object at `ref`. */
export interface ViewerProps {
  repo: string
  ref: string
  stats: Stats
}

export const MEBIBYTE = 1 << 20
