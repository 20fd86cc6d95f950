// What the screens of people share: how they read again after a change, and policies to start from.
import { queries } from '../../api/queries'
import type { Schema } from '../../api/client'

type Statement = Schema['Statement']

/** Read users, groups, policies and keys again. */
export const changedPeople = () => queries.invalidateQueries({ queryKey: ['auth'] })

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
