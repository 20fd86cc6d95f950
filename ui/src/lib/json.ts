// Where a fault is in the text of a policy.

/** The characters of the object with this number (from 1) in the outer array of a JSON text: `[start, end]`. */
export function placeOf(text: string, number: number): [number, number] | undefined {
  let depth = 0
  let found = 0
  let start = 0
  let isText = false
  for (let at = 0; at < text.length; at++) {
    const one = text[at]
    if (isText) {
      if (one === '\\') at++
      else if (one === '"') isText = false
    } else if (one === '"') isText = true
    else if (one === '{' || one === '[') {
      depth++
      if (one === '{' && depth === 2) {
        found++
        start = at
      }
    } else if (one === '}' || one === ']') {
      depth--
      if (one === '}' && depth === 1 && found === number) return [start, at + 1]
    }
  }
  return undefined
}

export const lineOf = (text: string, at: number) => text.slice(0, at).split('\n').length
