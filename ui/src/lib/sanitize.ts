// HTML that people wrote becomes elements without scripts, styles and forms. The only place where text becomes markup.
import DOMPurify from 'dompurify'

const FORBIDDEN = ['style', 'form', 'input', 'button', 'textarea', 'select', 'option', 'iframe', 'object', 'embed', 'svg', 'math', 'audio', 'video', 'picture', 'source', 'link', 'meta', 'base', 'dialog', 'template']

/** Where a link or an image of a text leads. Null leaves it out. */
export type Resolve = (address: string, isImage: boolean) => string | null

/** The elements of some HTML. Links and images go through `resolve`. */
export function sanitized(html: string, resolve: Resolve): DocumentFragment {
  const fragment = DOMPurify.sanitize(withoutInline(html), {
    FORBID_TAGS: FORBIDDEN,
    FORBID_ATTR: ['style', 'class', 'srcset', 'background', 'action', 'name', 'tabindex', 'autofocus', 'border', 'bgcolor', 'color', 'face', 'align', 'width', 'height'],
    ALLOW_DATA_ATTR: false,
    SANITIZE_NAMED_PROPS: true,
    RETURN_DOM_FRAGMENT: true,
  })
  for (const image of fragment.querySelectorAll('img')) {
    const source = image.getAttribute('src') ?? ''
    const target = source.startsWith('data:image/') ? source : resolve(source, true)
    if (target === null) image.replaceWith(linkTo(source, image.alt || source))
    else {
      image.src = target
      image.alt ||= ''
      image.loading = 'lazy'
    }
  }
  for (const head of fragment.querySelectorAll('th')) {
    if (!head.textContent.trim()) head.replaceWith(document.createElement('td'))
  }
  for (const block of fragment.querySelectorAll('pre')) block.tabIndex = 0 // it scrolls, also by keyboard
  for (const link of fragment.querySelectorAll('a[href]')) {
    const address = link.getAttribute('href') ?? ''
    const isOutside = /^[a-z][a-z0-9+.-]*:|^\/\//i.test(address)
    const target = isOutside || address.startsWith('#') ? address : resolve(address, false)
    if (target === null) link.removeAttribute('href')
    else link.setAttribute('href', target)
    if (isOutside) {
      link.setAttribute('target', '_blank')
      link.setAttribute('rel', 'noopener noreferrer')
    }
  }
  return fragment
}

/**
 * Renames what the policy of the page refuses when text is parsed: styles and handlers. The sanitizer removes them
 * anyway; without this, the browser reports each one as a breach of the policy.
 */
function withoutInline(html: string): string {
  return html
    .replace(/<[a-z][^>]*>/gi, (tag) => tag.replace(/([\s/"'])(on\w+|style)(\s*=)/gi, '$1data-removed$3'))
    .replace(/<(\/?)style\b/gi, '<$1template')
}

/** A link in place of an image of another host: the page loads nothing from there. */
function linkTo(address: string, text: string): Node {
  if (!/^https?:/i.test(address)) return document.createTextNode(text)
  const link = document.createElement('a')
  link.href = address
  link.textContent = text
  return link
}

/** The spans of highlighted code. */
export function highlightedSpans(html: string): DocumentFragment {
  return DOMPurify.sanitize(html, { ALLOWED_TAGS: ['span'], ALLOWED_ATTR: ['class'], RETURN_DOM_FRAGMENT: true })
}
