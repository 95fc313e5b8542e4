import { writtenRows, writtenVerdicts } from '@episodic/analysis/gate/decision'
import type { GatedRun, GateResult } from '@episodic/analysis/gate/gate-runs'
import { cleanText, formatCount, plural, wrapText } from '@episodic/report/text/format'
import { alignColumns } from '@episodic/run/base/align-columns'
import { createColors } from 'picocolors'

const WIDTH = 100

export function formatGate(result: GateResult, { color }: { readonly color: boolean }): string {
  const colors = createColors(color)
  const [head = [], ...verdicts] = writtenVerdicts(result.runs, (i) => titleOf(result.runs[i] as GatedRun))
  const [line = '', ...lines] = verdicts.length > 0 ? alignColumns(head, verdicts, head.length) : []
  const table =
    verdicts.length > 0 ? `${[colors.dim(line), ...lines].map((each) => each.trimEnd()).join('\n')}\n\n` : ''
  return `${table}${result.runs.map((run) => formatRun(run, colors)).join('\n')}\n${colors.bold(concludeGate(result))}\n`
}

export function concludeGate({ verdict, passed, runs }: GateResult): string {
  const of = (wanted: string) =>
    runs.flatMap(({ decisions }) => decisions).filter(({ verdict }) => verdict === wanted).length
  const said = ['missed', 'undecided'].map((word) => [of(word), word] as const)
  const counts = said.flatMap(([count, word]) => (count > 0 ? `${plural(count, 'condition')} ${word}` : []))
  const problems = runs.filter(({ problem }) => problem !== null).length
  if (verdict === 'error')
    return ['Error: not all could be decided', `${plural(problems, 'run')} with a problem`, ...counts].join(', ')
  if (verdict === 'met') return 'Passed: every condition is met'
  return `${passed ? 'Passed' : 'Not passed'}: ${counts.join(', ')}`
}

export function titleOf({ world, player, run }: GatedRun): string {
  return cleanText(world === '' ? run : `${world} · ${player}`)
}

function formatPlayed({ counts, tasks }: GatedRun): string {
  if (!counts) return ''
  const { finished, failed, left } = counts
  return [
    plural(tasks.length, 'task'),
    `${plural(finished, 'episode')} finished`,
    `${formatCount(failed)} failed`,
    ...(left > 0 ? [`${formatCount(left)} not played`] : []),
  ].join(', ')
}

function formatRun(gated: GatedRun, { bold, dim, green, red, yellow }: ReturnType<typeof createColors>): string {
  const paint = { met: green, missed: red, undecided: yellow, baseline: dim }
  const rows = writtenRows(gated)
  const [head = '', ...lines] = alignColumns(
    ['', 'asked', 'is', '95 %', 'tasks'],
    rows.map(({ name, asked, value, interval, tasks }) => [name, asked, value, interval, tasks]),
    2,
  )
  const paragraph = (text: string, indent: string) => wrapText(text, WIDTH).map((line) => `${indent}${line}`)
  return [
    `${bold(titleOf(gated))}  ${dim(gated.run)}`,
    ...(gated.counts ? [`  ${dim(formatPlayed(gated))}`] : []),
    ...gated.notes.flatMap((note) => paragraph(note, '  ').map((line) => yellow(line))),
    ...(gated.problem === null ? [] : paragraph(`Not decided: ${gated.problem}`, '  ').map((line) => red(line))),
    ...(rows.length > 0 ? ['', dim(head)] : []),
    ...rows.flatMap(({ verdict, notes }, i) => [
      `${lines[i]}  ${paint[verdict](verdict)}`,
      ...notes.flatMap((note) => paragraph(note, '    ').map((line) => dim(line))),
    ]),
    '',
  ].join('\n')
}
