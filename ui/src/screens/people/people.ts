// What the screens of people share: how they read again after a change, and policies to start from.
import { ApiError, type Schema } from '../../api/client'
import { queries } from '../../api/queries'
import { t } from '../../strings'
import type { Pair } from './KeyProof.svelte'

type Statement = Schema['Statement']

/** Read users, groups, policies and keys again. */
export const changedPeople = () => queries.invalidateQueries({ queryKey: ['auth'] })

/** Options of a request that this key pair authorizes in place of the session. */
export function byKey({ id, secret }: Pair) {
  const bytes = new TextEncoder().encode(`${id.trim()}:${secret.trim()}`)
  return { headers: { Authorization: `Basic ${btoa(String.fromCharCode(...bytes))}` }, credentials: 'omit' as const }
}

/** The answer to a request by a key pair. A wrong pair is not the end of the session. */
export async function proven<T>(sent: Promise<T>): Promise<T> {
  try {
    return await sent
  } catch (failed) {
    throw failed instanceof ApiError && failed.status === 401 ? new Error(t.people.wrongProof) : failed
  }
}

const repository = (name: string) => [`arn:lakefs:fs:::repository/${name}`, `arn:lakefs:fs:::repository/${name}/*`]

/** A policy that allows to read one repository, and nothing else. */
export const readOnly = (name: string): Statement[] => [{ effect: 'allow', action: ['fs:Read*', 'fs:List*'], resource: repository(name) }]

export const templates: Record<'read' | 'write' | 'branches' | 'folder', Statement[]> = {
  read: readOnly('sales'),
  write: [
    ...readOnly('sales'),
    {
      effect: 'allow',
      action: ['fs:WriteObject', 'fs:DeleteObject', 'fs:CreateCommit', 'fs:CreateBranch', 'fs:DeleteBranch'],
      resource: 'arn:lakefs:fs:::repository/sales/*',
    },
  ],
  branches: [
    ...readOnly('sales'),
    {
      effect: 'allow',
      action: ['fs:WriteObject', 'fs:DeleteObject'],
      resource: 'arn:lakefs:fs:::repository/sales/object/*',
      condition: { StringLike: { 'fs:Branch': ['dev-*'] } },
    },
    {
      effect: 'allow',
      action: ['fs:CreateBranch', 'fs:DeleteBranch', 'fs:CreateCommit'],
      resource: 'arn:lakefs:fs:::repository/sales/branch/dev-*',
    },
    {
      effect: 'allow',
      action: ['pr:ReadPullRequest', 'pr:ListPullRequests', 'pr:WritePullRequest', 'pr:CommentPullRequest'],
      resource: 'arn:lakefs:fs:::repository/sales',
    },
  ],
  folder: [
    ...readOnly('sales'),
    { effect: 'deny', action: ['fs:*'], resource: 'arn:lakefs:fs:::repository/sales/object/private/*' },
  ],
}
