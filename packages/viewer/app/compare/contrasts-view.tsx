import type { Contrasts, Factors } from '@episodic/report/compare/contrasts'
import { formatRules } from '@episodic/report/fold/scored-outcome'
import { DETECTABLE_NOTE, INTERVAL_NOTE } from '@episodic/report/notes/comparison-notes'
import {
  bySuccess,
  contrastRows,
  EFFECT_HEAD,
  EFFECT_NOTE,
  effectCells,
  factorCells,
  methodOfContrasts,
  noteContrasts,
  RUN_HEAD,
  runCells,
} from '@episodic/report/notes/contrast-notes'
import { Card, Section } from '../parts/card.tsx'
import { FiguresTable } from '../parts/figures-table.tsx'
import { IntervalBar } from '../parts/interval-bar.tsx'
import { plain } from '../parts/plain-text.tsx'
import { COST_CAPTION, CostPlot, costedOf } from '../parts/plots/cost-plot.tsx'
import { plainString } from '../parts/signs.ts'

export function ContrastsView({ contrasts: given }: { readonly contrasts: Contrasts }) {
  const contrasts = bySuccess(given)
  const few = noteContrasts(contrasts)
  const hasCosts = contrasts.runs.filter(({ cost, tokens }) => cost !== null || tokens !== null).length > 1
  return (
    <>
      <p class="muted">{plain(contrasts.environment)}</p>
      {contrasts.leftOut.map(({ run, why }) => (
        <p key={run} class="warning callout">
          {plain(`Left out: ${run}. ${why}`)}
        </p>
      ))}
      {few !== null && <p class="warning callout">{few}</p>}
      <Section title="Runs">
        <Card
          title="Figures of each run"
          caption="Means over the tasks of the run. The first run is the baseline; the others are in the order of their success."
          wide
        >
          <FiguresTable
            head={RUN_HEAD}
            texts={2}
            rows={contrasts.runs.map((run) => runCells(run).map((text) => plain(text)))}
          />
        </Card>
      </Section>
      {contrasts.factors && <FactorsView factors={contrasts.factors} world="" />}
      <Section title="Differences">
        <Card title={<>From {plain(contrasts.baseline)}</>} caption={methodOfContrasts(contrasts)} wide>
          <DifferencesTable contrasts={contrasts} />
        </Card>
        {hasCosts && (
          <Card title="Success and what it takes" caption={COST_CAPTION} wide>
            <CostPlot runs={contrasts.runs.map(costedOf)} />
          </Card>
        )}
      </Section>
      <details class="methods">
        <summary>How these figures are computed</summary>
        <p>Success is {formatRules(contrasts.successRules)}. A failed episode is in no figure.</p>
        <p>
          A difference is shown if the p-value of the sign-flip test, adjusted by Holm’s procedure (1979), is below
          0.05: so one of many runs does not look better by chance. The test asks how often the mean difference would be
          as far from 0 if the sign of the difference of each task were a fair coin (Fisher 1935). {INTERVAL_NOTE}
        </p>
        <p>{DETECTABLE_NOTE}</p>
      </details>
    </>
  )
}

function DifferencesTable({ contrasts: { contrasts } }: { readonly contrasts: Contrasts }) {
  const rows = contrasts.flatMap((contrast) =>
    contrastRows(contrast).map((row, i) => {
      const { figure, difference, interval, p, verdict, better, paired, detectable } = row
      const range = widestOf(contrasts, figure)
      const sign = better === null ? '' : better ? '✓ ' : '✗ '
      return [
        i === 0 ? plain(contrast.run) : '',
        plain(figure),
        <IntervalBar
          value={paired.difference.mean}
          low={paired.difference.low}
          high={paired.difference.high}
          from={-range}
          to={range}
        />,
        difference,
        interval,
        p,
        <span class={better === null ? 'muted' : better ? 'gain' : 'loss'}>
          {sign}
          {verdict}
        </span>,
        plain(detectable),
      ]
    }),
  )
  return (
    <FiguresTable
      head={['Run', 'Figure', 'less ◂ 0 ▸ more', 'Difference', '95 %', 'Holm', 'Shown', 'Detectable']}
      texts={3}
      rows={rows}
    />
  )
}

function widestOf(contrasts: Contrasts['contrasts'], figure: string): number {
  const ends = contrasts.flatMap((contrast) => {
    const {
      mean = 0,
      low = 0,
      high = 0,
    } = contrastRows(contrast).find((row) => row.figure === figure)?.paired.difference ?? {}
    return [mean, low ?? 0, high ?? 0]
  })
  return Math.max(...ends.map(Math.abs), Number.MIN_VALUE)
}

export function FactorsView({ factors, world }: { readonly factors: Factors; readonly world: string }) {
  const [head = [], ...rows] = factorCells(factors)
  const shown = (cells: readonly string[]) => cells.map((text) => plain(text))
  return (
    <Section title={`Prompts and options ${plainString(world)}`}>
      <Card title="Success by model and prompt" caption="Means over the tasks of each run." wide>
        <FiguresTable head={head.map(plainString)} rows={rows.map(shown)} />
      </Card>
      <Card title="Effects over all models" caption={EFFECT_NOTE} wide>
        <FiguresTable head={EFFECT_HEAD} texts={2} rows={effectCells(factors).map(shown)} />
      </Card>
    </Section>
  )
}
