// The content of an object as text.
import { contentUrl, noAnswer, refused } from '../api/client'

export interface Text {
  text: string
  /** Whether the object has more than what was read. */
  isCut: boolean
  encoding: 'UTF-8' | 'UTF-16' | 'Latin-1'
}

/** The first `limit` bytes of an object of `size` bytes. Null when they are no text. Throws ApiError. */
export async function readText(repo: string, ref: string, path: string, size: number, limit: number, signal?: AbortSignal): Promise<Text | null> {
  if (size === 0) return { text: '', isCut: false, encoding: 'UTF-8' }
  const bytes = await readBytes(repo, ref, path, limit, signal)
  const isCut = size > bytes.length
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return { text: new TextDecoder('utf-16le').decode(bytes), isCut, encoding: 'UTF-16' }
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return { text: new TextDecoder('utf-16be').decode(bytes), isCut, encoding: 'UTF-16' }
  if (bytes.subarray(0, 8192).includes(0)) return null
  try {
    // `stream`: a character that the limit cuts in two is left out
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: isCut }), isCut, encoding: 'UTF-8' }
  } catch {
    return { text: new TextDecoder('windows-1252').decode(bytes), isCut, encoding: 'Latin-1' }
  }
}

/** The first `limit` bytes of an object. Throws ApiError. */
export async function readBytes(repo: string, ref: string, path: string, limit: number, signal?: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
  let response: Response
  try {
    response = await fetch(contentUrl(repo, ref, path), { headers: { Range: `bytes=0-${limit - 1}` }, signal })
  } catch (error) {
    throw error instanceof DOMException ? error : noAnswer()
  }
  if (!response.ok) throw refused(response.status, await response.json().catch(() => undefined))
  return new Uint8Array(await response.arrayBuffer())
}
