// Calls of the API. Types come from openapi.yaml (`npm run types`), so a change of the API that breaks the page fails
// its type check. The browser adds the session cookie; no script ever sees the token.
import createClient from 'openapi-fetch'
import type { components, paths } from './schema'

export type Schema = components['schemas']
export const BASE = '/api/v1'
export const api = createClient<paths>({ baseUrl: BASE })

/** A request that the server refused (`status` and `kind` of the answer), or did not answer (status 0). */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly kind: string,
    message: string,
    readonly body: Partial<Schema['Error']> = {},
  ) {
    super(message)
    this.name = 'ApiError'
  }
}

interface Answer<T> {
  data?: T
  error?: unknown
  response: Response
}

/** The content of an answer. Throws ApiError for a refusal, and when no answer came. */
export async function ok<T>(sent: Promise<Answer<T>>): Promise<T> {
  let answer: Answer<T>
  try {
    answer = await sent
  } catch (error) {
    throw error instanceof DOMException && error.name === 'AbortError' ? error : noAnswer()
  }
  if (!answer.response.ok) throw refused(answer.response.status, answer.error)
  return answer.data as T
}

export function noAnswer(): ApiError {
  return new ApiError(0, 'no_answer', 'The server does not answer.')
}

/** The error for a refused request. `body` is its content, if it was JSON. */
export function refused(status: number, body: unknown): ApiError {
  const sent = (body ?? {}) as Partial<Schema['Error']>
  return new ApiError(status, sent.kind ?? 'unknown', sent.message ?? `The server answered ${status}.`, sent)
}

/** The address of an object's content. */
export function contentUrl(repo: string, ref: string, path: string): string {
  const query = new URLSearchParams({ path })
  return `${BASE}/repositories/${encodeURIComponent(repo)}/refs/${encodeURIComponent(ref)}/objects?${query}`
}

/** The address of a folder as a zip file. */
export function archiveUrl(repo: string, ref: string, prefix: string): string {
  const query = new URLSearchParams({ prefix, format: 'zip' })
  return `${BASE}/repositories/${encodeURIComponent(repo)}/refs/${encodeURIComponent(ref)}/archive?${query}`
}
