// What is shown of a changed object, by its kind. The first that fits is used; `load` gives its component.
import type { Component } from 'svelte'
import { kindOf } from '../../lib/icons'
import type { Entry } from './DiffList.svelte'

/** The two states of an object. A ref is null where the object is not there. */
export interface DetailProps {
  repo: string
  left: string | null
  right: string | null
  path: string
}

interface Detail {
  fits: (path: string) => boolean
  load: () => Promise<{ default: Component<DetailProps> }>
}

export const details: Detail[] = [
  { fits: (path) => /\.(parquet|csv|tsv|jsonl|ndjson|arrow|feather)$/i.test(path), load: () => import('./TableDetail.svelte') },
  { fits: (path) => kindOf(path) === 'image', load: () => import('./ImageDetail.svelte') },
  { fits: () => true, load: () => import('./TextDetail.svelte') },
]

/** The properties of the detail of an entry between two refs. */
export function detailProps(repo: string, left: string, right: string, entry: Entry): DetailProps {
  return { repo, left: entry.type === 'added' ? null : left, right: entry.type === 'removed' ? null : right, path: entry.path }
}
