// Cells of tables, as the API writes them: JSON values, and `{cut}` for the beginning of a long one.
export const NULL = '∅'

export function cellText(cell: unknown): string {
  if (cell === null || cell === undefined) return NULL
  if (typeof cell === 'object' && cell !== null && 'cut' in cell) return `${String(cell.cut)}…`
  return typeof cell === 'object' ? JSON.stringify(cell) : String(cell)
}

/** The width of a column in pixels, by its kind and name. */
export function cellWidth(kind: string, name: string): number {
  const byKind: Record<string, number> = { boolean: 90, integer: 120, number: 130, decimal: 130, time: 190, text: 200, nested: 260, binary: 200 }
  return Math.min(280, Math.max(byKind[kind] ?? 160, name.length * 8 + 40))
}
