// The screens, by path. A screen gets the values of its path as properties, and is loaded when it is first opened.
import type { Component } from 'svelte'
import { t } from './strings'

type Load = () => Promise<{ default: Component<any> }>

export interface Route {
  pattern: string
  load: Load
  /** The tab of the repository that is current on this screen. */
  tab?: string
  title?: string
}

/** The tabs of a repository, in the order of the page. `key`: the second key of the shortcut `g …`. */
export const tabs = [
  { name: 'objects', label: t.tabs.objects, key: 'o' },
  { name: 'changes', label: t.tabs.changes, key: 'u' },
  { name: 'commits', label: t.tabs.commits, key: 'c' },
  { name: 'branches', label: t.tabs.branches, key: 'b' },
  { name: 'workspaces', label: t.tabs.workspaces, key: 'w' },
  { name: 'tags', label: t.tabs.tags, key: 't' },
  { name: 'compare', label: t.tabs.compare, key: 'm' },
  { name: 'pulls', label: t.tabs.pulls, key: 'p' },
  { name: 'actions', label: t.tabs.actions, key: 'k' },
  { name: 'activity', label: t.tabs.activity, key: 'a' },
  { name: 'settings', label: t.tabs.settings, key: 's' },
  { name: 'history', label: t.tabs.history, key: 'h' },
]

export const routes: Route[] = [
  { pattern: '/repositories', load: () => import('./screens/Repositories.svelte'), title: t.repositories.title },
  { pattern: '/repositories/:repo/objects', load: () => import('./screens/objects/Objects.svelte'), tab: 'objects' },
  { pattern: '/repositories/:repo/object', load: () => import('./screens/object/Object.svelte'), tab: 'objects' },
  { pattern: '/repositories/:repo/connect', load: () => import('./screens/connect/Connect.svelte'), tab: 'objects' },
  { pattern: '/repositories/:repo/changes', load: () => import('./screens/changes/Changes.svelte'), tab: 'changes' },
  { pattern: '/repositories/:repo/commits', load: () => import('./screens/commits/Commits.svelte'), tab: 'commits' },
  { pattern: '/repositories/:repo/commits/:id', load: () => import('./screens/commits/CommitPage.svelte'), tab: 'commits' },
  { pattern: '/repositories/:repo/branches', load: () => import('./screens/branches/Branches.svelte'), tab: 'branches' },
  { pattern: '/repositories/:repo/workspaces', load: () => import('./screens/workspaces/Workspaces.svelte'), tab: 'workspaces' },
  { pattern: '/repositories/:repo/tags', load: () => import('./screens/branches/Tags.svelte'), tab: 'tags' },
  { pattern: '/repositories/:repo/compare', load: () => import('./screens/compare/Compare.svelte'), tab: 'compare' },
  { pattern: '/repositories/:repo/pulls', load: () => import('./screens/pulls/Pulls.svelte'), tab: 'pulls' },
  { pattern: '/repositories/:repo/pulls/new', load: () => import('./screens/pulls/CreatePull.svelte'), tab: 'pulls' },
  { pattern: '/repositories/:repo/pulls/:id', load: () => import('./screens/pulls/Pull.svelte'), tab: 'pulls' },
  { pattern: '/repositories/:repo/actions', load: () => import('./screens/hooks/Hooks.svelte'), tab: 'actions' },
  { pattern: '/repositories/:repo/actions/:id', load: () => import('./screens/hooks/RunPage.svelte'), tab: 'actions' },
  { pattern: '/repositories/:repo/activity', load: () => import('./screens/activity/Activity.svelte'), tab: 'activity' },
  { pattern: '/repositories/:repo/settings', load: () => import('./screens/settings/Settings.svelte'), tab: 'settings' },
  { pattern: '/repositories/:repo/history', load: () => import('./screens/history/AccessHistory.svelte'), tab: 'history' },
  { pattern: '/pulls', load: () => import('./screens/pulls/MyPulls.svelte'), title: t.pulls.mineTitle },
  { pattern: '/auth/users', load: () => import('./screens/people/Users.svelte'), title: t.people.users },
  { pattern: '/auth/users/:id', load: () => import('./screens/people/UserPage.svelte'), title: t.people.user },
  { pattern: '/auth/groups', load: () => import('./screens/people/Groups.svelte'), title: t.people.groups },
  { pattern: '/auth/groups/:id', load: () => import('./screens/people/GroupPage.svelte'), title: t.people.group },
  { pattern: '/auth/policies', load: () => import('./screens/people/Policies.svelte'), title: t.people.policies },
  { pattern: '/auth/new-policy', load: () => import('./screens/people/CreatePolicy.svelte'), title: t.people.newPolicy },
  { pattern: '/auth/policies/:id', load: () => import('./screens/people/PolicyPage.svelte'), title: t.people.policy },
  { pattern: '/auth/simulate', load: () => import('./screens/people/Simulate.svelte'), title: t.people.why },
]

export interface Match {
  route: Route
  params: Record<string, string>
}

/** The route of a path, with the decoded values of its `:names`. */
export function match(path: string): Match | undefined {
  const parts = path.replace(/\/+$/, '').split('/')
  for (const route of routes) {
    const wanted = route.pattern.split('/')
    if (wanted.length !== parts.length) continue
    const params: Record<string, string> = {}
    const fits = wanted.every((name, index) => {
      const part = parts[index] ?? ''
      if (!name.startsWith(':')) return name === part
      params[name.slice(1)] = decode(part)
      return part !== ''
    })
    if (fits) return { route, params }
  }
  return undefined
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
