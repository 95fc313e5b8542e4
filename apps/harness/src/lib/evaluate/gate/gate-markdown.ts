import { writtenRows, writtenVerdicts } from '@episodic/analysis/gate/decision'
import type { GatedRun, GateResult } from '@episodic/analysis/gate/gate-runs'
import { cleanText, formatCount, plural } from '@episodic/report/text/format'
import { concludeGate, formatPlayed, titleOf } from './format-gate.ts'

const MOST_LOST = 10
/** Of a summary, of which GitHub shows no more than 1 MiB. */
const MOST_CHARACTERS = 500_000
const SIGNS = { met: '✅ met', missed: '❌ missed', undecided: '❔ undecided', baseline: 'baseline' } as const

export function formatGateMarkdown(result: GateResult): string {
  const sign = result.passed ? '✅' : result.verdict === 'error' ? '⚠️' : '❌'
  const head = `## ${sign} ${concludeGate(result)}\n`
  let text = `${head}${formatVerdicts(result.runs)}`
  for (const [i, run] of result.runs.entries()) {
    const part = formatRun(run)
    if (text.length + part.length > MOST_CHARACTERS)
      return `${text}\n${plural(result.runs.length - i, 'more run')}, which would make this too long.\n`
    text += part
  }
  return text
}

function formatVerdicts(runs: readonly GatedRun[]): string {
  const [head = [], ...rows] = writtenVerdicts(runs, (i) => titleOf(runs[i] as GatedRun))
  if (rows.length === 0) return ''
  const shown = rows.map((row) => row.map((cell) => SIGNS[cell as keyof typeof SIGNS] ?? escapeMarkdown(cell)))
  const lines = [head.map(escapeMarkdown), head.map(() => '---'), ...shown]
  return `\n${lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}\n`
}

function formatRun(run: GatedRun): string {
  const rows = writtenRows(run)
  const notes = [...run.notes, ...rows.flatMap(({ name, notes }) => notes.map((note) => `${name}: ${note}`))]
  const played = formatPlayed(run)
  return [
    '',
    `### ${escapeMarkdown(titleOf(run))}`,
    '',
    `\`${cleanText(run.run).replaceAll('`', "'")}\`${played === '' ? '' : `: ${played}`}`,
    ...(run.problem === null ? [] : ['', `**Not decided:** ${escapeMarkdown(run.problem)}`]),
    ...(rows.length === 0
      ? []
      : [
          '',
          '| | asked | is | 95 % | tasks | |',
          '| --- | --- | ---: | ---: | ---: | --- |',
          ...rows.map(
            ({ name, asked, value, interval, tasks, verdict }) =>
              `| ${[name, asked, value, interval, tasks].map(escapeMarkdown).join(' | ')} | ${SIGNS[verdict]} |`,
          ),
        ]),
    ...(notes.length === 0 ? [] : ['', ...notes.map((note) => `- ${escapeMarkdown(note)}`)]),
    ...listLost(run),
    '',
  ].join('\n')
}

function listLost({ lost }: GatedRun): string[] {
  if (!lost || lost.count === 0) return []
  return [
    '',
    `<details><summary>${plural(lost.count, 'episode')} that the baseline solved and this run did not</summary>`,
    '',
    ...lost.flips
      .slice(0, MOST_LOST)
      .map(
        ({ task, taskInB = task, attempt, b }) =>
          `- task ${escapeMarkdown(taskInB)}, attempt ${attempt}: ${escapeMarkdown(b.ending)} after ${plural(b.steps, 'step')}`,
      ),
    ...(lost.count > MOST_LOST ? [`- and ${formatCount(lost.count - MOST_LOST)} more`] : []),
    '',
    '</details>',
  ]
}

/** Escapes a text of unknown origin, which could be markup, a link, a mention or the end of a cell. */
function escapeMarkdown(text: string): string {
  return cleanText(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replace(/^>(?!=)/, '&gt;')
    .replaceAll('@', '@\u200b')
    .replace(/[\\`*_{}[\]#|~!]/g, '\\$&')
}
