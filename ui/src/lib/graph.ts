// The columns and lines of a graph of commits. Pure.

export interface Node {
  id: string
  parents: string[]
}

/** One row of the graph. Columns count from 0. */
export interface GraphRow {
  /** The column of the commit. */
  column: number
  /** Columns whose lines come from above and end at the commit. */
  ends: number[]
  /** Columns whose lines cross the row. */
  passes: number[]
  /** Columns in which lines from the commit to its parents leave at the bottom. */
  starts: number[]
  /** The number of columns. */
  width: number
}

/** The rows of a log, newest first. A parent never comes before its child. */
export function graphOf(commits: Node[]): GraphRow[] {
  let waiting: (string | null)[] = [] // the commit that each column waits for
  return commits.map(({ id, parents }) => {
    let column = waiting.indexOf(id)
    if (column < 0) column = free(waiting)
    const next = waiting.map((one) => (one === id ? null : one))
    while (next.length <= column) next.push(null)
    const starts: number[] = []
    for (const [index, parent] of parents.entries()) {
      // the line of the first parent stays in its column, also if another column waits for the same commit
      let to = index === 0 ? column : next.indexOf(parent)
      if (to < 0) to = free(next)
      next[to] = parent
      starts.push(to)
    }
    while (next.length && next.at(-1) === null) next.pop()
    const ends = waiting.flatMap((one, at) => (one === id ? [at] : []))
    const passes = next.flatMap((one, at) => (one !== null && waiting[at] === one ? [at] : []))
    const width = Math.max(waiting.length, next.length, column + 1)
    waiting = next
    return { column, ends, passes, starts, width }
  })
}

function free(columns: (string | null)[]): number {
  const at = columns.indexOf(null)
  return at < 0 ? columns.length : at
}
