import { cleanText, formatCount, plural } from '@episodic/report/text/format'
import { createColors } from 'picocolors'
import { formatFigureName, formatHere, formatReference, formatVerdict } from './format-figure.ts'
import { formatProof } from './format-proof.ts'
import type { LineResult, SuiteResult } from './suite-result.ts'

/** Longer quantities and sources are cut. */
const WIDEST = 56

/**
 * Formats the result of a suite for a terminal, grouped by world, with a line break at the end.
 *
 * @param color - whether to use escape sequences.
 */
export function formatSuite(result: SuiteResult, { color }: { readonly color: boolean }): string {
  const { bold, dim, green, red, yellow } = createColors(color)
  const paint = (line: LineResult) =>
    line.kind === 'scored' ? bold : { same: green, inside: green, differs: red, 'not-checked': yellow }[line.verdict]
  const rows = result.worlds.flatMap(({ environment, lines }) =>
    lines.map((line, i) => {
      const { figure, half } = formatHere(line)
      const reference = formatReference(line)
      const cells = [
        i === 0 ? environment.name : '',
        formatFigureName(line),
        figure,
        half,
        reference.figure,
        reference.source,
      ].map((text) => cut(cleanText(text)))
      return { cells, line }
    }),
  )
  const head = ['world', 'quantity', 'here', '±', 'reference', 'source']
  const widths = head.map((name, i) => Math.max(name.length, ...rows.map(({ cells }) => cells[i]?.length ?? 0)))
  const aligned = (cells: readonly string[]) =>
    cells.map((text, i) => (i === 2 || i === 4 ? text.padStart(widths[i] ?? 0) : text.padEnd(widths[i] ?? 0)))
  const { name, version } = result.suite
  const { references, hold, differ, notChecked } = result.counts
  const summary = [
    bold(plural(references, 'reference')),
    green(`${formatCount(hold)} hold`),
    (differ > 0 ? red : dim)(`${formatCount(differ)} differ`),
    (notChecked > 0 ? yellow : dim)(`${formatCount(notChecked)} not checked`),
  ]
  const lines = [
    '',
    `${bold(`${name} ${version}`)}  ${dim(`seed ${result.seed} · ${plural(result.episodes, 'episode')} of each played figure`)}`,
    '',
    `  ${dim(aligned(head).join('  ').trimEnd())}`,
    ...rows.map(({ cells, line }) => {
      const [world = '', ...rest] = aligned(cells)
      return `  ${bold(world)}  ${rest.join('  ')}  ${paint(line)(formatVerdict(line))}`
    }),
    '',
    `  ${summary.join('   ')}`,
    ...withSpace(formatProof(result)),
  ]
  return `${lines.join('\n')}\n`
}

function withSpace(lines: readonly string[]): readonly string[] {
  return lines.length > 0 ? ['', ...lines] : []
}

function cut(text: string): string {
  return text.length > WIDEST ? `${text.slice(0, WIDEST - 1)}…` : text
}
