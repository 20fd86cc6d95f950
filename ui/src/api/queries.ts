// Answers that the page keeps for a moment, and how it forgets them after a change.
import { QueryClient } from '@tanstack/svelte-query'
import { ApiError } from './client'

const RETRIED = [0, 429, 502, 503, 504]

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 3_000,
      retry: (count, error) => count < 2 && error instanceof ApiError && RETRIED.includes(error.status),
      retryDelay: (count) => 500 * 2 ** count,
    },
  },
})

/**
 * Read everything about a repository again: something in it has changed. `isGone`: what the screen shows does not exist
 * any more, so it is not read again before the next screen opens.
 */
export function changed(repo: string, isGone = false): Promise<void> {
  return queries.invalidateQueries({ queryKey: ['repo', repo], refetchType: isGone ? 'none' : 'active' })
}

interface Page {
  pagination: { has_more: boolean; next_offset: string }
}

/** The `after` of the next page, or undefined on the last one. */
export function nextPage(page: Page): string | undefined {
  return page.pagination.has_more ? page.pagination.next_offset : undefined
}
