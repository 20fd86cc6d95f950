// The difference of two texts by lines.
import { diffLines } from 'diff'

export interface Line {
  sign: '+' | '−' | ' '
  text: string
  left: number | null
  right: number | null
}

const CONTEXT = 3 // equal lines shown around a change

/** The changed lines with some lines around them. Null stands for lines that are left out. */
export function changedLines(left: string, right: string): (Line | null)[] {
  const all: Line[] = []
  let [leftAt, rightAt] = [1, 1]
  for (const part of diffLines(left, right)) {
    const lines = part.value.replace(/\n$/, '').split('\n')
    for (const text of lines) {
      if (part.added) all.push({ sign: '+', text, left: null, right: rightAt++ })
      else if (part.removed) all.push({ sign: '−', text, left: leftAt++, right: null })
      else all.push({ sign: ' ', text, left: leftAt++, right: rightAt++ })
    }
  }
  const isNear = all.map((_, index) => all.slice(Math.max(0, index - CONTEXT), index + CONTEXT + 1).some((line) => line.sign !== ' '))
  const found: (Line | null)[] = []
  all.forEach((line, index) => {
    if (isNear[index]) found.push(line)
    else if (found.length && found.at(-1) !== null) found.push(null)
  })
  if (found.at(-1) === null) found.pop()
  return found
}
