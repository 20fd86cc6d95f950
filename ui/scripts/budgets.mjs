// Compares the sizes of the built files with the budgets, and fails over one. Sizes are those of gzip.
// First load: what index.html loads, with the screen of the list of repositories. Route: what one screen adds to it.
// With --docs, it also compares the sizes with those that docs/ui.md reports.
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'

const OUT = new URL('../../server_stub/lakebed_server/ui/', import.meta.url).pathname
const FIRST_LOAD = 90_000
const ROUTE = 60_000
const ON_DEMAND = 120_000 // a viewer with its libraries, loaded when an object of its kind is opened

const manifest = JSON.parse(readFileSync(join(OUT, '.vite/manifest.json'), 'utf8'))

/** The files that a chunk needs, with those of its static imports. */
function filesOf(key, found = new Set()) {
  const chunk = manifest[key]
  if (found.has(chunk.file)) return found
  found.add(chunk.file)
  for (const file of chunk.css ?? []) found.add(file)
  for (const one of chunk.imports ?? []) filesOf(one, found)
  return found
}

const gzip = (file) => (statSync(join(OUT, file)), gzipSync(readFileSync(join(OUT, file)), { level: 9 }).length)
const sum = (files) => [...files].reduce((total, file) => total + gzip(file), 0)

const entry = Object.keys(manifest).find((key) => manifest[key].isEntry)
const shell = filesOf(entry)
const rows = []
for (const key of Object.keys(manifest)) {
  if (!manifest[key].isDynamicEntry) continue
  const own = [...filesOf(key)].filter((file) => !shell.has(file))
  const isScreen = key.startsWith('src/screens/') && !key.endsWith('Viewer.svelte')
  rows.push({ name: key.replace(/^src\/|\.svelte$/g, ''), bytes: sum(own), limit: isScreen ? ROUTE : ON_DEMAND })
}
const first = rows.find((row) => row.name === 'screens/Repositories')
rows.unshift({ name: 'first load', bytes: sum(shell) + (first?.bytes ?? 0) + gzip('index.html'), limit: FIRST_LOAD })

let over = 0
for (const { name, bytes, limit } of rows) {
  const isOver = bytes > limit
  over += isOver
  console.log(`${isOver ? 'OVER' : ' ok '} ${(bytes / 1000).toFixed(1).padStart(7)} kB of ${limit / 1000} kB  ${name}`)
}

const DOCS = new URL('../../docs/ui.md', import.meta.url).pathname
const TOLERANCE = 2000 // bytes: a number of the docs is not changed for each text of the page
if (process.argv.includes('--docs')) {
  const bytesOf = (name) => rows.find((row) => row.name === name)?.bytes ?? 0
  const measured = {
    'first load, gzip': rows[0].bytes,
    'largest screen beyond it, gzip': Math.max(...rows.slice(1).filter((row) => row.limit === ROUTE).map((row) => row.bytes)),
    'Markdown, loaded with the first text': bytesOf('parts/Markdown'),
    'highlighting of code, loaded with the first code': bytesOf('lib/highlight.ts'),
  }
  const docs = readFileSync(DOCS, 'utf8')
  for (const [name, bytes] of Object.entries(measured)) {
    const said = docs.split('\n').find((line) => line.startsWith(`| ${name} |`))?.match(/(\d+) kB \|$/)?.[1]
    if (said && Math.abs(Number(said) * 1000 - bytes) <= TOLERANCE) continue
    console.error(`docs/ui.md says ${said} kB for “${name}”: it is ${(bytes / 1000).toFixed(1)} kB`)
    over += 1
  }
}
if (over) {
  console.error(`${over} over budget, or not as documented`)
  process.exit(1)
}
