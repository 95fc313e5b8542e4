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
import { formatCounts } from '@episodic/run/base/format-counts'
import { createColors } from 'picocolors'

const MOST_FLIPS = 5

export function formatComparison(comparison: Comparison, { color }: { readonly color: boolean }): string {
  const { bold, dim, green, red, yellow } = createColors(color)
  const { a, b, tasks, episodes, environment } = comparison
  const width = (key: 'name' | 'policy') => Math.max(...[a, b].map((side) => cleanText(side[key]).length))
  const side = (letter: string, { name, policy, ...counts }: Comparison['a']) =>
    `  ${bold(letter)}  ${cleanText(name).padEnd(width('name'))}   ${cleanText(policy).padEnd(width('policy'))}   ${formatCounts(counts, color)}`
  const figures = figureRows(comparison).map((row) => ({ ...row, name: cleanText(row.name) }))
  const first = Math.max(10, ...figures.map(({ name }) => name.length + 2))
  const widest = (least: number, of: (row: (typeof figures)[number]) => string) =>
    Math.max(least, ...figures.map((row) => of(row).length + 2))
  const second = widest(11, ({ a }) => a)
  const third = widest(11, ({ b }) => b)
  const fourth = widest(16, ({ difference }) => difference)
  const fifth = widest(28, ({ interval }) => interval)
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
    side('A', a),
    side('B', b),
    ...[a, b].flatMap((each, i) => noteVoids(each).map((note) => `  ${bold('AB'.charAt(i))}  ${yellow(note)}`)),
    '',
    `  ${dim(`${plural(tasks.shared, 'task')} in both, ${formatCount(tasks.compared)} with finished episodes in both`)}`,
    ...alone.map((line) => `  ${yellow(cleanText(line))}`),
    ...other.map((row) => `  ${yellow(cleanText(`${row.key} also differs: ${row.a} in A, ${row.b} in B`))}`),
    '',
    dim(
      `  ${''.padEnd(first)}${'A'.padStart(second)}${'B'.padStart(third)}${'B − A'.padStart(fourth)}   ${'95 % interval'.padEnd(fifth)}`.trimEnd(),
    ),
    ...figures.flatMap((row) => [
      `  ${dim(row.name.padEnd(first))}${row.a.padStart(second)}${row.b.padStart(third)}${bold(row.difference.padStart(fourth))}   ${row.interval.padEnd(fifth)}${paint[row.effect](row.shown)}`,
      dim(`  ${''.padEnd(first)}${row.tasks}; ${row.tests}; detectable ${row.detectable}`),
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
