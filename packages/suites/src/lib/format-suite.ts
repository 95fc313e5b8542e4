import { formatCount, plural } from '@episodic/report/text/format'
import { alignColumns } from '@episodic/run/base/align-columns'
import { createColors } from 'picocolors'
import { formatFigureName, formatHere, formatReference, formatVerdict } from './format-figure.ts'
import { formatProof } from './format-proof.ts'
import type { SuiteResult } from './suite-result.ts'

/** Longer quantities and sources are cut. */
const WIDEST = 56

/**
 * Formats the result of a suite for a terminal, grouped by world, with a line break at the end.
 *
 * @param color - whether to use escape sequences.
 */
export function formatSuite(result: SuiteResult, { color }: { readonly color: boolean }): string {
  const { bold, dim, red, yellow } = createColors(color)
  const plain = (text: string) => text
  const shown = result.worlds.flatMap(({ name, lines }) =>
    lines.map((line, i) => {
      const { figure, half } = formatHere(line)
      const reference = formatReference(line)
      const verdict = line.kind === 'scored' ? 'same' : line.verdict
      const cells = [i === 0 ? name : '', formatFigureName(line), reference.source, formatVerdict(line)]
      return {
        cells: [...cells, figure, half, reference.figure].map(cut),
        paint: verdict === 'differs' ? red : verdict === 'not-checked' ? yellow : plain,
      }
    }),
  )
  const head = ['world', 'quantity', 'source', 'verdict', 'here', '±', 'reference']
  const [heading = '', ...rows] = alignColumns(
    head,
    shown.map(({ cells }) => cells),
    4,
  )
  const { name, version } = result.suite
  const { references, hold, differ, notChecked } = result.counts
  const summary = [
    plural(references, 'reference'),
    `${formatCount(hold)} hold`,
    (differ > 0 ? red : plain)(`${formatCount(differ)} differ`),
    (notChecked > 0 ? yellow : plain)(`${formatCount(notChecked)} not checked`),
  ]
  const proof = formatProof(result)
  const lines = [
    '',
    `${bold(`${name} ${version}`)}  ${dim(`seed ${result.seed} · ${plural(result.episodes, 'episode')} of each played figure`)}`,
    ...(rows.length > 0 ? ['', dim(heading), ...rows.map((row, i) => shown[i]?.paint(row)), ''] : ['']),
    ...(references > 0 ? [`  ${summary.join('   ')}`, ...(proof.length > 0 ? [''] : [])] : []),
    ...proof,
  ]
  return `${lines.join('\n')}\n`
}

function cut(text: string): string {
  return text.length > WIDEST ? `${text.slice(0, WIDEST - 1)}…` : text
}
