// Compares the sizes of the built files with the budgets, and fails over one. Sizes are those of gzip.
// First load: what index.html loads, with the screen of the list of repositories. Route: what one screen adds to it.
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
if (over) {
  console.error(`${over} over budget`)
  process.exit(1)
}
