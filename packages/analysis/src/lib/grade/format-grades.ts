import type { AgreementFigure } from '@episodic/report/grades/agreement'
import type { GraderFigures, GradeSummary } from '@episodic/report/grades/grade-summary'
import { graderNames } from '@episodic/report/grades/grader-names'
import {
  cleanText,
  formatCost,
  formatCount,
  formatInterval,
  formatNumber,
  formatPercent,
  formatShareInterval,
  NOTHING,
} from '@episodic/report/text/format'
import { formatTable } from '@episodic/run/base/align-columns'
import { noteWords } from './words/note-words.ts'

export function formatGrades(summary: GradeSummary): string {
  const { run, episodes, graders, orphans } = summary
  const names = new Map([...graderNames(graders)].map(([key, name]) => [key, cleanText(name)]))
  const table = [
    ['grader', 'kind', 'graded', 'ungraded', 'value', '95 % interval', 'of successes', 'of others'],
    ...graders.flatMap((figures) => rowsOf(figures, names.get(figures.key) ?? '')),
  ]
  return [
    `  ${cleanText(run)}: ${formatCount(episodes)} finished episodes`,
    indent(graders.length > 0 ? formatTable(table) : 'No verdicts yet.'),
    ...graders.flatMap((figures) => remarksOf(figures, names.get(figures.key) ?? '')),
    ...agreementLines(summary, names),
    ...correctedLines(summary, names),
    ...(orphans > 0 ? [`  ! ${formatCount(orphans)} verdicts are on lines that are not there.`] : []),
    '',
  ].join('\n')
}

function rowsOf(figures: GraderFigures, name: string): string[][] {
  const { grader, graded, ungraded, rate, mean, labels, bySuccess } = figures
  const { success, other } = bySuccess
  const start = [name, grader.kind, formatCount(graded), formatCount(ungraded)]
  const both = [success, other]
  const means = both.map((values) => formatNumber(values.mean?.mean ?? null))
  if (mean) return [[...start, formatNumber(mean.mean), formatInterval(mean), ...means]]
  const rates = both.map((values) => formatPercent(values.rate?.rate ?? null))
  if (rate) return [[...start, formatPercent(rate.rate), formatShareInterval(rate), ...rates]]
  if (labels.length === 0) return [[...start, NOTHING]]
  const shareIn = (values: GraderFigures['bySuccess']['success'], label: string) =>
    formatPercent(values.labels.find((one) => one.label === label)?.rate.rate ?? 0)
  return labels.map(({ label, rate }, i) => [
    ...(i === 0 ? start : ['', '', '', '']),
    `${cleanText(label)} ${formatPercent(rate.rate)}`,
    formatShareInterval(rate),
    shareIn(success, label),
    shareIn(other, label),
  ])
}

function remarksOf(figures: GraderFigures, name: string): string[] {
  const { graded, ungraded, planted, quotes, asked, votesAgree } = figures
  const tokens = asked.promptTokens + asked.completionTokens
  const cost = asked.cost === null ? '' : `, cost ${formatCost(asked.cost)}`
  return [
    ...(planted.obeyed > 0
      ? [
          `  ! ${name} obeyed ${planted.obeyed} of ${planted.count} planted orders to pass an episode: agents can order its verdicts.`,
        ]
      : planted.count > 0
        ? [`  ${name} obeyed none of ${planted.count} planted orders to pass an episode.`]
        : []),
    ...(planted.changed > 0 && planted.obeyed < planted.changed
      ? [
          `  ${name} passed ${planted.changed} of ${planted.count} planted episodes that it had not passed, and ${planted.controls.changed} of ${planted.controls.count} without an order: that is noise.`,
        ]
      : []),
    ...(graded === 0
      ? [`  ! ${name} gave no verdict in ${formatCount(ungraded)} of ${formatCount(ungraded)} episodes.`]
      : []),
    ...(quotes.notFound > 0
      ? [`  ! ${name}: ${formatCount(quotes.notFound)} of ${formatCount(quotes.count)} quotes are not in their step.`]
      : []),
    ...noteWords(name, figures).map((note) => `  ${note}`),
    ...(votesAgree === null ? [] : [`  ${name}: all votes agree in ${formatPercent(votesAgree)} of the episodes.`]),
    ...(tokens > 0
      ? [`  ${name}: ${formatCount(asked.verdicts)} verdicts took ${formatCount(tokens)} tokens${cost}.`]
      : []),
  ]
}

function agreementLines({ agreements, alphas }: GradeSummary, names: ReadonlyMap<string, string>): string[] {
  if (agreements.length === 0) return []
  const table = [
    ['agreement of', 'and', 'episodes', 'agree', '95 % interval', 'κ', '95 % interval'],
    ...agreements.map(({ a, b, episodes, agree, kappa }) => [
      names.get(a) ?? '',
      names.get(b) ?? '',
      formatCount(episodes),
      formatPercent(agree.value),
      formatShareInterval(agree),
      formatNumber(kappa.value),
      formatInterval(kappa),
    ]),
  ]
  const alphaOf = ({ value, low, high }: AgreementFigure) => `${formatNumber(value)} (${formatInterval({ low, high })})`
  return [
    '',
    indent(formatTable(table)),
    ...alphas.map((alpha) => `  ${cleanText(alpha.name)}: Krippendorff's α of ${alpha.graders} is ${alphaOf(alpha)}`),
  ]
}

function correctedLines({ corrected, graders }: GradeSummary, names: ReadonlyMap<string, string>): string[] {
  return corrected.map(({ key, label, mean, low, high, labelled, missing }) => {
    const name = `${names.get(key) ?? ''}${label === null ? '' : ` ${cleanText(label)}`}`
    if (missing > 0)
      return `  ${name}: ${formatCount(labelled)} labels by people; ${formatCount(missing)} more, and its figure is corrected by them.`
    const isScore = graders.find((figures) => figures.key === key)?.mean !== null
    const [shown, interval] = isScore
      ? [formatNumber(mean), formatInterval({ low, high })]
      : [formatPercent(mean), formatShareInterval({ low, high })]
    return `  ${name} corrected by ${formatCount(labelled)} labels: ${shown} (${interval})`
  })
}

function indent(text: string): string {
  return text.replaceAll(/^(?=.)/gm, '  ')
}
