import { cleanText } from '@episodic/report/text/format'

const GAP = '  '

/**
 * Aligns rows of texts as columns of a terminal, indented by two: the first `texts` to the left, the others to the
 * right. The first line is the head.
 */
export function alignColumns(head: readonly string[], rows: readonly (readonly string[])[], texts: number): string[] {
  const all = [head, ...rows].map((row) => row.map(cleanText))
  const widths = head.map((_, i) => Math.max(...all.map((row) => (row[i] ?? '').length)))
  const pad = (cell: string, i: number) => (i < texts ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))
  return all.map((row) => `${GAP}${row.map(pad).join(GAP)}`)
}

export function formatTable(rows: readonly (readonly string[])[]): string {
  const [head = [], ...others] = rows
  const lines = alignColumns(head, others, head.length)
  return lines.map((line) => line.slice(GAP.length).trimEnd()).join('\n')
}
