// Numbers and times as people read them.
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g
const UNITS = ['B', 'kB', 'MB', 'GB', 'TB', 'PB']
const BINARY = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB']

function scaled(bytes: number, step: number, units: string[]): string {
  let power = 0
  let value = bytes
  while (value >= step && power < units.length - 1) {
    value /= step
    power += 1
  }
  return `${power && value < 10 ? value.toFixed(1) : Math.round(value)} ${units[power]}`
}

/** `1.2 MB` */
export const size = (bytes: number) => scaled(bytes, 1000, UNITS)

/** `1.1 MiB (1,234,567 bytes)`, for titles. */
export const exactSize = (bytes: number) => `${scaled(bytes, 1024, BINARY)} (${count(bytes)} bytes)`

export const count = (value: number) => value.toLocaleString('en')

/** Local time, short: `15:46` today, `25 Nov 15:46` this year, `25 Nov 2025` before. `seconds` are Unix seconds. */
export function time(seconds: number, now = new Date()): string {
  const date = new Date(seconds * 1000)
  const clock = date.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' })
  const day = date.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' })
  if (date.toDateString() === now.toDateString()) return clock
  return date.getFullYear() === now.getFullYear() ? `${day} ${clock}` : `${day} ${date.getFullYear()}`
}

/** `2026-11-25 15:46:12 UTC` */
export const utc = (seconds: number) => `${new Date(seconds * 1000).toISOString().slice(0, 19).replace('T', ' ')} UTC`

export const shortId = (id: string) => (/^[0-9a-f]{64}$/.test(id) ? id.slice(0, 12) : id)

/** A name with its control characters written out, so that it cannot look like another one: `⟨202E⟩gnp.exe`. */
export function shown(text: string): string {
  return text.replace(CONTROLS, (one) => `⟨${(one.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`)
}

/** The last part of a path: `a/b/` and `a/b` give `b/` and `b`. */
export function baseName(path: string): string {
  const end = path.endsWith('/') ? path.length - 1 : path.length
  return path.slice(path.lastIndexOf('/', end - 1) + 1)
}

/** The folder of a path, with its slash. Empty at the top. */
export const folderOf = (path: string) => path.slice(0, path.length - baseName(path).length)
