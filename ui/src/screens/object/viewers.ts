// The viewers of objects. The first one that fits is the preview; `load` gives its component.
import type { Component } from 'svelte'
import { extensionOf, kindOf } from '../../lib/icons'
import type { Stats, ViewerProps } from './viewer'

interface Viewer {
  name: string
  fits: (stats: Stats) => boolean
  load: () => Promise<{ default: Component<ViewerProps> }>
}

const type = (stats: Stats) => (stats.content_type ?? '').split(';')[0]?.trim() ?? ''

/** Endings of the formats that the server reads as tables. */
const TABLES = /\.(parquet|csv|tsv|jsonl|ndjson|arrow|feather)$/i

export const viewers: Viewer[] = [
  { name: 'table', fits: (stats) => stats.path_type === 'common_prefix' || TABLES.test(stats.path), load: () => import('./TableOrText.svelte') },
  { name: 'image', fits: (stats) => kindOf(stats.path) === 'image' || /^image\//.test(type(stats)), load: () => import('./ImageViewer.svelte') },
  { name: 'pdf', fits: (stats) => kindOf(stats.path) === 'pdf' || type(stats) === 'application/pdf', load: () => import('./PdfViewer.svelte') },
  { name: 'notebook', fits: (stats) => kindOf(stats.path) === 'notebook', load: () => import('./NotebookViewer.svelte') },
  { name: 'markdown', fits: (stats) => kindOf(stats.path) === 'markdown' || type(stats) === 'text/markdown', load: () => import('./MarkdownViewer.svelte') },
  { name: 'geojson', fits: (stats) => extensionOf(stats.path) === 'geojson' || type(stats) === 'application/geo+json', load: () => import('./GeoViewer.svelte') },
  { name: 'text', fits: (stats) => !BINARY.includes(extensionOf(stats.path)), load: () => import('./TextViewer.svelte') },
]

/** Names of objects that are no text: a preview of their first bytes says nothing. */
const BINARY = ['parquet', 'arrow', 'feather', 'avro', 'orc', 'zip', 'gz', 'zst', 'bz2', 'xz', 'tar', '7z', 'npy', 'npz', 'pkl', 'pt', 'h5', 'db', 'sqlite', 'mp4', 'mp3', 'wav', 'jar', 'whl', 'exe', 'so']

export const viewerOf = (stats: Stats): Viewer | undefined => viewers.find((one) => one.fits(stats))
