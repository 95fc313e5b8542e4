import type { Comparison, Flip } from '@episodic/report/compare/comparison'
import {
  aloneIn,
  figureRows,
  methodOf,
  notePrompts,
  otherDifferences,
  verdictOf,
} from '@episodic/report/notes/comparison-notes'
import { noteVoids } from '@episodic/report/notes/void-notes'
import { cleanText, formatCount, formatNumber, plural } from '@episodic/report/text/format'
import { alignColumns } from '@episodic/run/base/align-columns'
import { formatCounts } from '@episodic/run/base/format-counts'
import { createColors } from 'picocolors'

const MOST_FLIPS = 5

export function formatComparison(comparison: Comparison, { color }: { readonly color: boolean }): string {
  const { bold, dim, green, red, yellow } = createColors(color)
  const { a, b, tasks, episodes, environment } = comparison
  const sides = alignColumns(['A', a.name, a.policy], [['B', b.name, b.policy]], 3)
  const figures = figureRows(comparison)
  const [head = '', ...rows] = alignColumns(
    ['', 'A', 'B', 'B − A', '95 % interval'],
    figures.map(({ name, a, b, difference, interval }) => [name, a, b, difference, interval]),
    1,
  )
  const paint = { higher: bold, lower: bold, same: dim, unclear: dim }
  const other = otherDifferences(comparison)
  const alone = [notePrompts(tasks), aloneIn('A', tasks.onlyA), aloneIn('B', tasks.onlyB)].filter(
    (line) => line !== null,
  )
  const flips = (title: string, { count, flips: shown }: Comparison['episodes']['gained'], paint: typeof green) => [
    '',
    `  ${paint(`${formatCount(count)} ${title}`)} ${dim(`of ${plural(episodes.paired, 'paired episode')}`)}`,
    ...shown.slice(0, MOST_FLIPS).map((flip) => `    ${flipLine(flip, dim)}`),
    ...(count > MOST_FLIPS ? [dim(`    and ${formatCount(count - MOST_FLIPS)} more`)] : []),
  ]
  const lines = [
    `${bold(`${cleanText(b.name)} against ${cleanText(a.name)}`)}  ${dim(cleanText(environment))}`,
    '',
    ...[a, b].map((side, i) => `${sides[i]}   ${formatCounts(side, color)}`),
    ...[a, b].flatMap((each, i) => noteVoids(each).map((note) => `  ${bold('AB'.charAt(i))}  ${yellow(note)}`)),
    '',
    `  ${dim(`${plural(tasks.shared, 'task')} in both, ${formatCount(tasks.compared)} with finished episodes in both`)}`,
    ...alone.map((line) => `  ${yellow(cleanText(line))}`),
    ...other.map((row) => `  ${yellow(cleanText(`${row.key} also differs: ${row.a} in A, ${row.b} in B`))}`),
    '',
    dim(head),
    ...figures.flatMap(({ effect, shown, tasks, tests, detectable }, i) => [
      `${rows[i]}  ${paint[effect](shown)}`,
      dim(`    ${tasks}; ${tests}; detectable ${detectable}`),
    ]),
    '',
    `  ${bold(verdictOf(comparison))}`,
    `  ${dim(methodOf(comparison))}`,
    ...flips('solved only by B', episodes.gained, green),
    ...flips('solved only by A', episodes.lost, red),
  ]
  return `${lines.join('\n')}\n`
}

function flipLine({ task, attempt, a, b }: Flip, dim: (text: string) => string): string {
  const end = (side: Flip['a']) =>
    `${cleanText(side.ending)} after ${plural(side.steps, 'step')} ${dim(`(${formatNumber(side.unshaped)})`)}`
  return `${cleanText(task)} ${dim(`attempt ${attempt}`)}   A ${end(a)}   B ${end(b)}`
}
