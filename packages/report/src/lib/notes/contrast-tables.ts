import type { Contrasts } from '../compare/contrasts.ts'
import { formatPercent, formatShareInterval } from '../text/format.ts'
import { contrastRows, runCells } from './contrast-notes.ts'

/** A run with its contrast, which the baseline has none of. */
function rowsOf(worlds: readonly Contrasts[]) {
  return worlds.flatMap(({ environment, runs, contrasts }) =>
    runs.map((run, i) => ({ environment, run, contrast: i === 0 ? undefined : contrasts[i - 1] })),
  )
}

/** Returns comparisons of worlds as CSV: figures, success with its 95 % interval, differences from the baseline. */
export function contrastsToCsv(worlds: readonly Contrasts[]): string {
  const rows = rowsOf(worlds).map(({ environment, run, contrast }) => {
    const { name, policy, prompt, tasks, finished, failed, unresolved, rate, bounds, known } = run
    const differences = (['success', 'return', 'steps', 'tokens', 'cost'] as const).flatMap((figure) => {
      const { difference, holm, detectable } = contrast?.[figure] ?? {}
      const { mean, low, high, clusters } = difference ?? {}
      const cells = { '': mean, _low: low, _high: high, _tasks: clusters, _p_holm: holm, _detectable: detectable }
      return Object.entries(cells).map(([cell, value]) => [`${figure}_difference${cell}`, value] as const)
    })
    return {
      ...{ world: environment, run: name, policy, prompt, baseline: contrast ? 'no' : 'yes' },
      ...{ tasks, finished, failed, left: unresolved },
      ...{ success_rate: rate?.rate, success_rate_low: rate?.low, success_rate_high: rate?.high },
      ...{ success_if_failed_lost: bounds?.low, success_if_failed_won: bounds?.high },
      ...{ success: run.success, return: run.return, steps: run.steps },
      ...{ tokens: run.tokens, tokens_tasks: known?.tokens, cost: run.cost, cost_tasks: known?.cost },
      ...Object.fromEntries(differences),
    }
  })
  const lines = [Object.keys(rows[0] ?? {}), ...rows.map((row) => Object.values(row))]
  const toCell = (cell: string | number | null | undefined) =>
    typeof cell === 'string' ? toCsvText(cell) : String(cell ?? '')
  return lines.map((cells) => `${cells.map(toCell).join(',')}\n`).join('')
}

/** What a spreadsheet would take for a formula, which can run programs or send what the sheet holds. */
const FORMULA = /^\s*[=+\-@＝＋－＠]|^[\t\r\n]/

/** Returns a text as a field of CSV. A formula gets an apostrophe in front, which spreadsheets do not show. */
export function toCsvText(given: string): string {
  const text = FORMULA.test(given) ? `'${given}` : given
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Returns the comparisons of worlds as a table of LaTeX, which needs the package `booktabs`. */
export function contrastsToLatex(worlds: readonly Contrasts[]): string {
  const rows = rowsOf(worlds).map(({ environment, run, contrast }, i) => {
    const { difference, interval, p } = (contrast && contrastRows(contrast)[0]) ?? { difference: 'baseline' }
    const [, policy = '', , , , tokens = '', cost = ''] = runCells(run)
    const success = `${formatPercent(run.rate?.rate ?? run.success)}${run.rate ? ` (${formatShareInterval(run.rate)})` : ''}`
    const change = interval ? `${difference} (${interval})` : difference
    const cells = [contrast ? '' : environment, policy, success, change, p?.replace(/^p (= )?/, '') ?? '', tokens, cost]
    return `${i > 0 && !contrast ? '\\midrule\n' : ''}${cells.map(toLatexCell).join(' & ')} \\\\`
  })
  return `% Needs \\usepackage{booktabs}. Success over episodes and its difference from the baseline over tasks, each with
% its 95 % interval; p of the sign-flip test, adjusted by Holm's procedure over the runs of a world.
\\begin{tabular}{llrrrrr}
\\toprule
World & Player & Success & Difference & $p$ (Holm) & Tokens & Cost \\\\
\\midrule
${rows.join('\n')}
\\bottomrule
\\end{tabular}
`
}

/** Signs that LaTeX reads as something else, each before what stands for it. */
const SIGNS = '\\\\textbackslash{} ~\\textasciitilde{} ^\\textasciicircum{} <$<$ >$>$ −$-$ –-- ≥$\\geq$'.split(' ')

function toLatexCell(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(/[#$%&_{}]|[\\~^<>−–≥]/g, (sign) => SIGNS.find((one) => one.startsWith(sign))?.slice(1) ?? `\\${sign}`)
}
