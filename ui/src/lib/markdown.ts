// Markdown as elements. Addresses in it are relative to the object that it comes from.
import MarkdownIt from 'markdown-it'
import { contentUrl } from '../api/client'
import { folderOf } from './format'
import { links } from './links'
import { sanitized, type Resolve } from './sanitize'

const parser = new MarkdownIt({ html: true, linkify: true })

export const markdown = (text: string, resolve: Resolve) => sanitized(parser.render(text), resolve)

/** Addresses relative to an object: images are its neighbours at the same ref, links open their pages. */
export function besides(repo: string, ref: string, path: string): Resolve {
  return (address, isImage) => {
    if (/^[a-z][a-z0-9+.-]*:|^\/\//i.test(address)) return null
    const target = resolvePath(folderOf(path), address.replace(/[?#].*$/, ''))
    if (!target) return null
    if (isImage) return contentUrl(repo, ref, target)
    return target.endsWith('/') ? links.objects(repo, ref, target) : links.object(repo, ref, target)
  }
}

/** `a/b/` and `../c.png` give `a/c.png`. */
export function resolvePath(folder: string, address: string): string {
  let relative = address
  try {
    relative = decodeURIComponent(address)
  } catch {
    // a stray percent sign is a part of the name
  }
  const parts = relative.startsWith('/') ? [] : folder.split('/').slice(0, -1)
  for (const part of relative.split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '.') parts.push(part)
  }
  return parts.join('/').replace(/^\//, '')
}
