// The cells of a Jupyter notebook (format 4), without anything that runs.
export interface Output {
  kind: 'text' | 'error' | 'image' | 'html' | 'markdown'
  /** Text, HTML, or the data: address of an image. */
  value: string
}

export interface Cell {
  kind: 'markdown' | 'code' | 'raw'
  source: string
  number: string
  outputs: Output[]
}

type Json = Record<string, unknown>

/** The cells of a notebook. Throws SyntaxError or TypeError for text that is none. */
export function readNotebook(text: string): { language: string; cells: Cell[] } {
  const notebook = JSON.parse(text) as { cells: Json[]; metadata?: { language_info?: { name?: string } } }
  return { language: notebook.metadata?.language_info?.name ?? 'python', cells: notebook.cells.map(readCell) }
}

function readCell(cell: Json): Cell {
  const kind = cell.cell_type === 'markdown' || cell.cell_type === 'code' ? cell.cell_type : 'raw'
  const outputs = Array.isArray(cell.outputs) ? (cell.outputs as Json[]).flatMap(readOutput) : []
  return { kind, source: joined(cell.source), number: cell.execution_count == null ? ' ' : String(cell.execution_count as number), outputs }
}

function readOutput(output: Json): Output[] {
  if (output.output_type === 'stream') return [{ kind: 'text', value: joined(output.text) }]
  if (output.output_type === 'error') return [{ kind: 'error', value: `${String(output.ename)}: ${String(output.evalue)}` }]
  const data = (output.data ?? {}) as Json
  for (const type of ['image/png', 'image/jpeg', 'image/gif']) {
    if (type in data) return [{ kind: 'image', value: `data:${type};base64,${joined(data[type]).replaceAll(/\s/g, '')}` }]
  }
  if ('text/html' in data) return [{ kind: 'html', value: joined(data['text/html']) }]
  if ('text/markdown' in data) return [{ kind: 'markdown', value: joined(data['text/markdown']) }]
  if ('text/plain' in data) return [{ kind: 'text', value: joined(data['text/plain']) }]
  return []
}

/** Texts of a notebook are lists of lines, or one text. */
const joined = (text: unknown): string => (Array.isArray(text) ? text.join('') : typeof text === 'string' ? text : '')
