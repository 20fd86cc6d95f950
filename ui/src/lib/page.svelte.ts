// The address of the page. Screens read it, and every link of this origin changes it without a reload.
class Page {
  url = $state.raw(new URL(location.href))
  /** How often a link was followed or another path opened. */
  visits = $state(0)

  get path(): string {
    return this.url.pathname
  }

  /** The repository that the page shows, or an empty string. */
  get repo(): string {
    return /^\/repositories\/([a-z0-9-]+)/.exec(this.path)?.[1] ?? ''
  }

  /** A value of the query string, or an empty string. */
  query(name: string): string {
    return this.url.searchParams.get(name) ?? ''
  }
}

export const page = new Page()

/** Open an address of this page. `replace`: without a new entry in the history. */
export function go(href: string, replace = false): void {
  const url = new URL(href, location.href)
  const moved = url.pathname !== page.url.pathname
  history[replace ? 'replaceState' : 'pushState'](null, '', url)
  page.url = url
  if (moved) visit()
}

function visit(): void {
  page.visits += 1
  scrollTo(0, 0)
}

/** Change values of the query string. Empty values are removed. */
export function setQuery(values: Record<string, string>, replace = false): void {
  const url = new URL(page.url)
  for (const [name, value] of Object.entries(values)) {
    if (value) url.searchParams.set(name, value)
    else url.searchParams.delete(name)
  }
  go(url.href, replace)
}

/** Follow links of this origin without a reload, and the buttons of the browser. Call it once. */
export function follow(isOurs: (path: string) => boolean): void {
  addEventListener('popstate', () => {
    const before = page.path
    page.url = new URL(location.href)
    if (page.path !== before) page.visits += 1 // the browser scrolls
  })
  addEventListener('click', (event) => {
    if (event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    const link = event.target instanceof Element ? event.target.closest('a') : null
    if (!link || link.target || link.hasAttribute('download') || link.origin !== location.origin) return
    if (!isOurs(link.pathname)) return
    if (link.hash && link.pathname === location.pathname && link.search === location.search) return
    event.preventDefault()
    if (link.pathname === page.path) visit()
    go(link.href)
  })
}
