import { createColors } from 'picocolors'
import { cleanText, wrapText } from '../report/plots/format.ts'
import type { Contrasts } from './contrasts.ts'
import { contrastRows, methodOfContrasts, RUN_HEAD, runCells } from './describe-contrasts.ts'

const GAP = '  '
const WIDTH = 100

/** Formats contrasts for a terminal, with a line break at the end. */
export function formatContrasts(contrasts: Contrasts, { color }: { readonly color: boolean }): string {
  const { bold, dim, green, red } = createColors(color)
  const rows = contrasts.contrasts.flatMap((contrast) =>
    contrastRows(contrast).map((row, i) => ({ run: i === 0 ? contrast.run : '', ...row })),
  )
  const cells = rows.map(({ run, figure, difference, interval, p }) => [run, figure, difference, interval, p])
  const [head = '', ...lines] = table(['', '', 'difference', '95 %', 'Holm'], cells, 2)
  return `${[
    `${bold(`${contrasts.contrasts.length} runs against ${cleanText(contrasts.baseline)}`)}  ${dim(cleanText(contrasts.environment))}`,
    '',
    ...table(RUN_HEAD, contrasts.runs.map(runCells), 2).map((line, i) => (i === 0 ? dim(line) : line)),
    '',
    dim(head),
    ...lines.map((line, i) => {
      const { verdict = '', better = null } = rows[i] ?? {}
      return `${line}${GAP}${(better === null ? dim : better ? green : red)(verdict)}`
    }),
    '',
    ...wrapText(methodOfContrasts(contrasts), WIDTH).map((line) => `  ${dim(cleanText(line))}`),
  ].join('\n')}\n`
}

/** Aligns columns: the first `texts` to the left, the others to the right. */
function table(head: readonly string[], rows: readonly (readonly string[])[], texts: number): string[] {
  const all = [head, ...rows].map((row) => row.map(cleanText))
  const widths = head.map((_, i) => Math.max(...all.map((row) => (row[i] ?? '').length)))
  return all.map(
    (row) =>
      `  ${row.map((cell, i) => (i < texts ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join(GAP)}`,
  )
}
