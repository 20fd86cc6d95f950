// The icon and the kind of an object, by the end of its name.
import File from '@lucide/svelte/icons/file'
import FileCode from '@lucide/svelte/icons/file-code'
import FileImage from '@lucide/svelte/icons/file-image'
import FileText from '@lucide/svelte/icons/file-text'
import NotebookText from '@lucide/svelte/icons/notebook-text'
import Table2 from '@lucide/svelte/icons/table-2'
import { baseName } from './format'

const KINDS: Record<string, string[]> = {
  table: ['parquet', 'csv', 'tsv', 'jsonl', 'ndjson', 'arrow', 'feather', 'avro', 'orc'],
  image: ['png', 'jpg', 'jpeg', 'gif', 'webp', 'avif', 'svg', 'bmp', 'ico'],
  markdown: ['md', 'markdown'],
  notebook: ['ipynb'],
  pdf: ['pdf'],
  code: ['py', 'sql', 'json', 'yaml', 'yml', 'toml', 'sh', 'js', 'ts', 'java', 'scala', 'go', 'rs', 'c', 'cpp', 'h', 'r', 'html', 'xml', 'css', 'geojson'],
  text: ['txt', 'log', 'rst', 'ini', 'cfg', 'license'],
}
const ICONS = { table: Table2, image: FileImage, markdown: FileText, notebook: NotebookText, pdf: FileText, code: FileCode, text: FileText }

/** The part of a name behind its last dot, in lower case. */
export function extensionOf(path: string): string {
  const name = baseName(path).toLowerCase()
  return name.includes('.') ? name.slice(name.lastIndexOf('.') + 1) : name
}

/** What an object is, as far as its name says. */
export function kindOf(path: string): string {
  const extension = extensionOf(path)
  return Object.keys(KINDS).find((kind) => KINDS[kind]?.includes(extension)) ?? ''
}

export const iconOf = (path: string) => ICONS[kindOf(path) as keyof typeof ICONS] ?? File
