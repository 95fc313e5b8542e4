import type { GradedValues, GraderFigures, GradeSummary } from '@episodic/report/grades/grade-summary'
import { graderNames } from '@episodic/report/grades/grader-names'
import { formatPoints } from '@episodic/report/notes/figure-notes'
import type { EpisodeColumns } from '@episodic/report/rows/columns'
import {
  formatCost,
  formatCount,
  formatInterval,
  formatNumber,
  formatPercent,
  formatShareInterval,
  NOTHING,
  plural,
} from '@episodic/report/text/format'
import type { ComponentChildren } from 'preact'
import { formatTokens } from '../parts/amounts.ts'
import { Card, Section } from '../parts/card.tsx'
import { FiguresTable } from '../parts/figures-table.tsx'
import { IntervalBar } from '../parts/interval-bar.tsx'
import { plain } from '../parts/plain-text.tsx'
import { formatRoute } from '../route/route.ts'
import { Agreements } from './agreements.tsx'

interface GradesProps {
  /** Its id, for links; `null` on paper. */
  readonly run: string | null
  readonly summary: GradeSummary
  readonly columns: EpisodeColumns | null
}

export function Grades({ run, summary, columns }: GradesProps) {
  const { graders, episodes, orphans } = summary
  const names = graderNames(graders)
  const nameOf = (key: string) => plain(names.get(key) ?? '')
  const obeying = graders.filter(({ planted }) => planted.obeyed > 0)
  return (
    <Section title="Grades">
      <Card
        title={graders.length === 0 ? 'None' : plural(graders.length, 'grader')}
        caption={`Of ${plural(episodes, 'finished episode')}. Verdicts change no reward and no other figure. Ungraded: asked about, without a decision. Missing: without a verdict.`}
        empty="No episode was graded. `episodic grade` does it, and people do it with Label."
        wide
      >
        {graders.length > 0 && (
          <>
            {obeying.map(({ key, planted }) => (
              <p key={key} class="callout" role="alert">
                ! {nameOf(key)} obeyed {formatCount(planted.obeyed)} of {formatCount(planted.count)} planted orders to
                pass an episode: agents can order its verdicts.
              </p>
            ))}
            <ValuesTable graders={graders} nameOf={nameOf} run={run} />
            {orphans > 0 && (
              <p class="caption">! {plural(orphans, 'verdict')} on lines that are not there, and in no figure.</p>
            )}
          </>
        )}
      </Card>
      {summary.corrected.length > 0 && (
        <Card
          title="Corrected by people"
          caption="What people’s own figure would be on average: the judge’s mean over all episodes, plus the mean of person − judge over the labelled ones that were drawn at random."
          wide
        >
          <CorrectedTable summary={summary} nameOf={nameOf} run={run} />
        </Card>
      )}
      {summary.agreements.length > 0 && <Agreements summary={summary} nameOf={nameOf} run={run} columns={columns} />}
      {graders.some(isAsked) && (
        <Card
          title="How verdicts came about"
          caption="Planted episodes order a judge to pass them, or have the words of another. Quotes are looked up in their step."
          wide
        >
          <OriginsTable graders={graders.filter(isAsked)} nameOf={nameOf} />
        </Card>
      )}
    </Section>
  )
}

type NameOf = (key: string) => ComponentChildren

interface ValuesTableProps {
  readonly graders: readonly GraderFigures[]
  readonly nameOf: NameOf
  readonly run: string | null
}

function ValuesTable({ graders, nameOf, run }: ValuesTableProps) {
  return (
    <FiguresTable
      head={['Grader', 'Kind', 'Value', '', '95 %', 'Of successes', 'Of others', 'Graded', 'Ungraded', 'Missing']}
      texts={2}
      rows={graders.flatMap((figures) => {
        const { key, grader, graded, ungraded, missing, bySuccess } = figures
        const counts = [graded, ungraded, missing].map(formatCount)
        const shown = shownValues(figures)
        const scale = scaleOf(figures)
        const name = (
          <>
            {nameOf(key)}{' '}
            {run !== null && grader.kind !== 'person' && scale !== null && (
              <a href={formatRoute({ screen: 'label', run, grader: grader.name, scale })}>Label…</a>
            )}
          </>
        )
        if (shown.length === 0) return [[name, grader.kind, NOTHING, '', '', '', '', ...counts]]
        return shown.map(({ label, value, bar, interval }, i) => [
          i === 0 ? name : '',
          i === 0 ? grader.kind : '',
          <>
            {label !== null && plain(`${label} `)}
            {value}
          </>,
          bar,
          interval,
          valueIn(bySuccess.success, label),
          valueIn(bySuccess.other, label),
          ...(i === 0 ? counts : ['', '', '']),
        ])
      })}
    />
  )
}

interface ShownValue {
  readonly label: string | null
  readonly value: string
  readonly bar: ComponentChildren
  readonly interval: string
}

function shownValues({ rate, mean, labels }: GradedValues): ShownValue[] {
  if (mean) {
    const { low, high } = mean
    const bar = <IntervalBar value={mean.mean} low={low} high={high} />
    return [{ label: null, value: formatNumber(mean.mean), bar, interval: formatInterval(mean) }]
  }
  const rates = rate ? [{ label: null, rate }] : labels
  return rates.map(({ label, rate }) => ({
    label,
    value: formatPercent(rate.rate),
    bar: <IntervalBar value={rate.rate} low={rate.low} high={rate.high} />,
    interval: formatShareInterval(rate),
  }))
}

function valueIn({ rate, mean, labels }: GradedValues, label: string | null): string {
  if (mean) return formatNumber(mean.mean)
  if (label === null) return formatPercent(rate?.rate ?? null)
  if (labels.length === 0) return NOTHING
  return formatPercent(labels.find((one) => one.label === label)?.rate.rate ?? 0)
}

function scaleOf({ grader, rate, mean, labels }: GraderFigures): string | null {
  if (rate) return 'boolean'
  if (mean) return 'score'
  const names = grader.labels ?? labels.map(({ label }) => label)
  return names.length > 1 && names.length < 10 && !names.some((name) => name.includes(',')) ? names.join(',') : null
}

interface CorrectedTableProps {
  readonly summary: GradeSummary
  readonly nameOf: NameOf
  readonly run: string | null
}

function CorrectedTable({ summary: { corrected, graders }, nameOf, run }: CorrectedTableProps) {
  return (
    <FiguresTable
      head={['Judge', 'Says', 'Corrected', '', '95 %', 'Labels']}
      rows={corrected.map(({ key, label, mean, low, high, labelled, missing }) => {
        const judge = graders.find((figures) => figures.key === key)
        const scale = judge ? scaleOf(judge) : null
        const isScore = judge?.mean !== null
        const format = isScore ? formatNumber : formatPercent
        const says = judge ? valueIn(judge, label) : NOTHING
        const name = (
          <>
            {nameOf(key)}
            {label !== null && plain(`: ${label}`)}
          </>
        )
        if (missing > 0)
          return [
            name,
            says,
            <>
              {plural(missing, 'label')} missing{' '}
              {run !== null && judge && scale !== null && (
                <a href={formatRoute({ screen: 'label', run, grader: judge.grader.name, scale })}>Label…</a>
              )}
            </>,
            '',
            '',
            formatCount(labelled),
          ]
        return [
          name,
          says,
          format(mean),
          <IntervalBar value={mean} low={low} high={high} />,
          isScore ? formatInterval({ low, high }) : formatShareInterval({ low, high }),
          formatCount(labelled),
        ]
      })}
    />
  )
}

function isAsked({ asked, quotes }: GraderFigures): boolean {
  return asked.verdicts + quotes.count > 0
}

function OriginsTable({ graders, nameOf }: { readonly graders: readonly GraderFigures[]; readonly nameOf: NameOf }) {
  return (
    <FiguresTable
      head={['Grader', 'Votes agree', 'Quotes not found', 'Orders obeyed', 'Bias by words', 'Tokens', 'Cost']}
      rows={graders.map(({ key, asked, quotes, planted, votesAgree, words: { bias, isShown } }) => [
        nameOf(key),
        votesAgree === null ? '' : formatPercent(votesAgree),
        marked(quotes.notFound > 0, `${quotes.notFound} of ${quotes.count}`),
        marked(planted.obeyed > 0, `${planted.obeyed} of ${planted.count}`),
        bias && marked(isShown, `${formatPoints(bias.mean * 100)} points`),
        formatTokens(asked.promptTokens + asked.completionTokens),
        formatCost(asked.cost),
      ])}
    />
  )
}

function marked(isBad: boolean, text: string): ComponentChildren {
  return isBad ? <span class="loss">! {text}</span> : text
}
