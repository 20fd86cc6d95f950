// The patterns of protected branches, as the server matches them: `*`, `?`, `[ab]` and `[!ab]`.
interface Rule {
  pattern: string
}

export function isProtected(branch: string, rules: Rule[]): boolean {
  return rules.some((rule) => toExpression(rule.pattern).test(branch))
}

function toExpression(pattern: string): RegExp {
  const source = pattern.replace(/\[(!?)([^\]]+)\]|[*?]|[.+^${}()|\\[\]]/g, (one, not: string | undefined, set: string | undefined) => {
    if (one === '*') return '.*'
    if (one === '?') return '.'
    if (set === undefined) return `\\${one}`
    return `[${not ? '^' : ''}${set.replace(/[\\\]^]/g, '\\$&')}]`
  })
  return new RegExp(`^${source}$`, 's')
}

/** A pattern that matches exactly this path, in the language of a .gitignore file. */
export const exactly = (path: string) => `/${path.replace(/[\\*?[\]! ]/g, '\\$&')}`
