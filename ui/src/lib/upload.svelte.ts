// Uploads of files into a branch: three at a time, with progress. What is done stays done when others are sent again.
import { BASE, noAnswer, refused } from '../api/client'

const AT_ONCE = 3

export interface Item {
  file: File
  path: string
  state: 'waiting' | 'sending' | 'done' | 'failed'
  sent: number
  error: Error | null
}

/** A file with the path below the folder into which it goes. */
export interface Found {
  file: File
  path: string
}

export class Upload {
  items = $state<Item[]>([])
  isRunning = $state(false)
  #requests = new Set<XMLHttpRequest>()
  #isCancelled = false

  constructor(
    readonly repo: string,
    readonly branch: string,
    readonly folder: string,
  ) {}

  get bytes(): number {
    return this.items.reduce((total, one) => total + one.file.size, 0)
  }

  get sent(): number {
    return this.items.reduce((total, one) => total + (one.state === 'done' ? one.file.size : one.sent), 0)
  }

  count(state: Item['state']): number {
    return this.items.filter((one) => one.state === state).length
  }

  /** Add files that are not there yet. */
  add(found: Found[]): void {
    const known = new Set(this.items.map((one) => one.path))
    for (const { file, path } of found) {
      if (!known.has(path)) this.items.push({ file, path, state: 'waiting', sent: 0, error: null })
    }
  }

  remove(item: Item): void {
    this.items = this.items.filter((one) => one.path !== item.path)
  }

  /** Send everything that is not done. Resolves when nothing is left to send, or after `cancel`. */
  async run(): Promise<void> {
    this.#isCancelled = false
    this.isRunning = true
    const waiting = this.items.filter((one) => one.state !== 'done')
    for (const one of waiting) one.state = 'waiting'
    const next = waiting.values()
    const sender = async () => {
      for (const item of next) {
        if (this.#isCancelled) return
        await this.#send(item)
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, sender))
    this.isRunning = false
  }

  cancel(): void {
    this.#isCancelled = true
    for (const request of this.#requests) request.abort()
  }

  async #send(item: Item): Promise<void> {
    item.state = 'sending'
    item.sent = 0
    item.error = null
    try {
      await this.#put(item)
      item.state = 'done'
    } catch (error) {
      item.sent = 0
      item.state = this.#isCancelled ? 'waiting' : 'failed'
      if (!this.#isCancelled) item.error = error as Error
    }
  }

  /** `fetch` reports no progress of an upload. */
  #put(item: Item): Promise<void> {
    const query = new URLSearchParams({ path: this.folder + item.path })
    const request = new XMLHttpRequest()
    this.#requests.add(request)
    return new Promise<void>((resolve, reject) => {
      request.open('POST', `${BASE}/repositories/${encodeURIComponent(this.repo)}/branches/${encodeURIComponent(this.branch)}/objects?${query}`)
      request.setRequestHeader('Content-Type', item.file.type || 'application/octet-stream')
      request.responseType = 'json'
      request.upload.onprogress = (event) => (item.sent = event.loaded)
      request.onload = () => (request.status < 300 ? resolve() : reject(refused(request.status, request.response)))
      request.onerror = request.onabort = () => reject(noAnswer())
      request.send(item.file)
    }).finally(() => this.#requests.delete(request))
  }
}

/** The files of a drop, also those in folders. */
export async function filesOf(transfer: DataTransfer): Promise<Found[]> {
  const entries = [...transfer.items].map((one) => one.webkitGetAsEntry()).filter((one) => one !== null)
  const found: Found[] = []
  for (const entry of entries) await walk(entry, '', found)
  return found
}

async function walk(entry: FileSystemEntry, folder: string, found: Found[]): Promise<void> {
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject))
    found.push({ file, path: folder + entry.name })
    return
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader()
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject))
    if (!some.length) return
    for (const one of some) await walk(one, `${folder}${entry.name}/`, found)
  }
}
