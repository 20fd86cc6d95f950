// The addresses of the screens. The paths and the names of queries are those that people know from similar tools.
const of = (repo: string, screen: string) => `/repositories/${encodeURIComponent(repo)}/${screen}`

function withQuery(path: string, values: Record<string, string | undefined>): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(values)) if (value) query.set(name, value)
  const text = query.toString()
  return text ? `${path}?${text}` : path
}

export const links = {
  repositories: () => '/repositories',
  objects: (repo: string, ref?: string, path?: string) => withQuery(of(repo, 'objects'), { ref, path }),
  object: (repo: string, ref: string, path: string) => withQuery(of(repo, 'object'), { ref, path }),
  connect: (repo: string, tool?: string) => withQuery(of(repo, 'connect'), { tool }),
  changes: (repo: string, ref?: string) => withQuery(of(repo, 'changes'), { ref }),
  commits: (repo: string, ref?: string, path?: string) => withQuery(of(repo, 'commits'), { ref, path }),
  commit: (repo: string, id: string) => of(repo, `commits/${encodeURIComponent(id)}`),
  branches: (repo: string) => of(repo, 'branches'),
  tags: (repo: string) => of(repo, 'tags'),
  compare: (repo: string, base?: string, compare?: string) => withQuery(of(repo, 'compare'), { base, compare }),
  pulls: (repo: string) => of(repo, 'pulls'),
  newPull: (repo: string, source?: string, destination?: string) => withQuery(of(repo, 'pulls/new'), { source, destination }),
  pull: (repo: string, id: string) => of(repo, `pulls/${encodeURIComponent(id)}`),
  runs: (repo: string, branch?: string) => withQuery(of(repo, 'actions'), { branch }),
  run: (repo: string, id: string, pull?: string) => withQuery(of(repo, `actions/${encodeURIComponent(id)}`), { pull }),
  settings: (repo: string) => of(repo, 'settings'),
  myPulls: () => '/pulls',
  users: () => '/auth/users',
  user: (id: string) => `/auth/users/${encodeURIComponent(id)}`,
  groups: () => '/auth/groups',
  group: (id: string) => `/auth/groups/${encodeURIComponent(id)}`,
  policies: () => '/auth/policies',
  newPolicy: () => '/auth/new-policy',
  policy: (id: string) => `/auth/policies/${encodeURIComponent(id)}`,
  simulate: (user?: string) => withQuery('/auth/simulate', { user }),
}
