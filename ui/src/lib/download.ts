// Downloads of objects and of folders. A folder is a zip of the last commit: the page says what the zip leaves out.
import { api, archiveUrl, contentUrl, ok } from '../api/client'
import { queries } from '../api/queries'
import { t } from '../strings'
import { baseName, shown } from './format'
import { isWritable } from './repository'
import { noticeEnd } from './session.svelte'
import { toast } from './toasts.svelte'

/** Browsers take one file for each link. */
export async function download(repo: string, ref: string, paths: string[]): Promise<void> {
  for (const path of paths) {
    const isFolder = !path || path.endsWith('/')
    try {
      if (isFolder && !(await isCommitted(repo, ref, path))) continue
    } catch (failed) {
      noticeEnd(failed)
      toast((failed as Error).message, true)
      continue
    }
    const link = document.createElement('a')
    link.href = isFolder ? archiveUrl(repo, ref, path) : contentUrl(repo, ref, path)
    link.download = isFolder ? '' : baseName(path) // the server names an archive
    link.click()
  }
}

/** Whether the last commit has the folder. Says so if not, and if the zip differs from what the page shows. */
async function isCommitted(repo: string, branch: string, prefix: string): Promise<boolean> {
  if (!(await queries.fetchQuery(isWritable(repo, branch)))) return true // a tag or a commit
  const query = { prefix, amount: 1 }
  const [inCommit, changes] = await Promise.all([
    ok(api.GET('/repositories/{repository}/refs/{ref}/objects/ls', { params: { path: { repository: repo, ref: `${branch}@` }, query } })),
    ok(api.GET('/repositories/{repository}/branches/{branch}/diff', { params: { path: { repository: repo, branch }, query } })),
  ])
  const name = shown(prefix) || branch
  if (!inCommit.results.length) toast(t.objects.zipNothing(name), true)
  else if (changes.results.length) toast(t.objects.zipCommitted(name))
  return inCommit.results.length > 0
}
