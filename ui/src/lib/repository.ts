// What screens ask about refs.
import { api, ok, type Schema } from '../api/client'

export type Repository = Schema['Repository']

/** A query: whether a ref is a branch or a workspace, and so can be changed. */
export function isWritable(repo: string, ref: string) {
  return {
    queryKey: ['repo', repo, 'writable', ref],
    queryFn: async ({ signal }: { signal: AbortSignal }) => {
      if (/^[^~^@:]+\+[0-9a-f]{32}$/.test(ref)) return true
      // a listing and not `getBranch`: a 404 is an error in the console of the browser
      const params = { path: { repository: repo }, query: { prefix: ref, amount: 1, show_hidden: true } }
      const found = await ok(api.GET('/repositories/{repository}/branches', { params, signal }))
      return found.results[0]?.id === ref
    },
    staleTime: 30_000,
  }
}

/** A query: the size and the newest commit. Asks again while the server still counts. */
export function statisticsOf(repo: string) {
  return {
    queryKey: ['repo', repo, 'statistics'],
    queryFn: ({ signal }: { signal: AbortSignal }) =>
      ok(api.GET('/repositories/{repository}/statistics', { params: { path: { repository: repo } }, signal })),
    staleTime: 30_000,
    refetchInterval: (query: { state: { data?: Schema['RepositoryStatistics'] } }) =>
      query.state.data && query.state.data.bytes === undefined ? 1000 : (false as const),
  }
}

/** A query: whether the person may do something in a repository, and why not. */
export function mayDo(repo: string, action: string) {
  return {
    queryKey: ['repo', repo, 'right', action],
    queryFn: ({ signal }: { signal: AbortSignal }) =>
      ok(api.POST('/auth/simulate', { body: { action, resource: `arn:lakefs:fs:::repository/${repo}` }, signal })),
    staleTime: 60_000,
  }
}

/** The ways to name an object outside of the page. */
export function namesOf(repo: string, ref: string, path: string) {
  return {
    path,
    uri: `lakebed://${repo}/${ref}/${path}`,
    python: `lakebed.connect().repository(${JSON.stringify(repo)}).ref(${JSON.stringify(ref)}).get(${JSON.stringify(path)})`,
    s3: `s3://${repo}/${ref}/${path}`,
  }
}
