import { noteContrasts } from '@episodic/report/notes/contrast-notes'
import { formatPoints } from '@episodic/report/notes/figure-notes'
import { formatPercent, formatShareInterval } from '@episodic/report/text/format'
import type { ComparedRuns } from '@episodic/report/view/compared-runs'
import type { RunEntry } from '@episodic/report/view/run-entry'
import { FactorsView } from '../compare/contrasts-view.tsx'
import { Card, Section } from '../parts/card.tsx'
import { FiguresTable } from '../parts/figures-table.tsx'
import { IntervalBar } from '../parts/interval-bar.tsx'
import { EmptyNote, WhenLoaded } from '../parts/notes.tsx'
import { plain } from '../parts/plain-text.tsx'
import { COST_CAPTION, CostPlot } from '../parts/plots/cost-plot.tsx'
import { plainString } from '../parts/signs.ts'
import { formatRoute } from '../route/route.ts'
import { useTitle } from '../route/use-title.ts'
import { findCell, isBaseline, type SetTable, toCostedRuns, toSetTable } from '../set/set-table.ts'
import { SourceError } from '../source/source.ts'
import { useLoaded, useVersion } from '../source/use-source.ts'
import { RunVoids } from './run-list/runs-table.tsx'

/** How well does each player do in each world, at what price, and what can be compared? */
export function SetScreen({ set }: { readonly set: string }) {
  const version = useVersion(null)
  const loaded = useLoaded((source) => source.runs(), [], version)
  useTitle(set)
  return (
    <WhenLoaded of={loaded}>
      {(all) => {
        const runs = all.filter((run) => run.set === set)
        return runs.length === 0 ? <EmptyNote whole title="There is no such set" /> : <SetView set={set} runs={runs} />
      }}
    </WhenLoaded>
  )
}

function SetView({ set, runs }: { readonly set: string; readonly runs: readonly RunEntry[] }) {
  const table = toSetTable(runs)
  const { worlds, players, runsOf } = table
  const compared = useLoaded(
    (source) =>
      Promise.all(
        worlds.map(async (world): Promise<ComparedRuns | SourceError | null> => {
          const ids = runsOf(world).map(({ id }) => id)
          if (ids.length < 2) return null
          return source.compare(ids, ids[0] as string).catch((error) => error)
        }),
      ),
    [runs.map(({ id, state }) => id + state).join()],
  )
  const costed = toCostedRuns(table)
  const contrastsOf = (i: number) => {
    const found = compared.value?.[i]
    return found instanceof SourceError ? null : found?.contrasts
  }
  const errorOf = (i: number) => {
    const found = compared.value?.[i] ?? null
    // Of a file that was made without comparisons, every cell would say so.
    if (found instanceof SourceError) return found.code === 'not-embedded' ? null : found.message
    return found
  }
  return (
    <div class="run">
      <h1>{plain(set)}</h1>
      {worlds.map((world, i) => {
        const contrasts = contrastsOf(i)
        const few = contrasts ? noteContrasts(contrasts) : null
        return few !== null && <p key={world} class="warning callout">{`${plainString(world)}: ${few}`}</p>
      })}
      <Section title="Success">
        <Card
          title="Worlds and players"
          caption="Success of the finished episodes with its 95 % interval, and its difference from the baseline over the tasks that both have: ✓ and ✗ are shown to be so."
          wide
        >
          <FiguresTable
            head={['Player', ...worlds.map(plainString)]}
            texts={worlds.length + 1}
            rows={players.map((player) => [
              plain(player),
              ...worlds.map((world, i) => <Cell runs={runsOf(world, player)} compared={errorOf(i)} />),
            ])}
          />
          <p>
            Compare{' '}
            {worlds.map((world, i) => (
              <>
                {i > 0 && ', '}
                <a href={formatRoute({ screen: 'compare', runs: runsOf(world).map(({ id }) => id), base: '' })}>
                  {plain(world)}
                </a>
              </>
            ))}
          </p>
        </Card>
        {costed.filter(({ cost, tokens }) => cost !== null || tokens !== null).length > 1 && (
          <Card
            title="Success and what it takes"
            caption={`Over all worlds, each of which counts once, of the players with episodes in all of them. ${COST_CAPTION}`}
            wide
          >
            <CostPlot runs={costed} />
          </Card>
        )}
      </Section>
      {worlds.map((world, i) => {
        const factors = contrastsOf(i)?.factors
        return factors && <FactorsView key={world} factors={factors} world={`in ${world}`} />
      })}
    </div>
  )
}

interface CellProps {
  readonly runs: ReturnType<SetTable['runsOf']>
  readonly compared: Parameters<typeof findCell>[0]
}

function Cell({ runs, compared }: CellProps) {
  if (runs.length === 0) return <span class="muted">not played</span>
  return runs.map((run) => {
    const { id, success, stopped } = run
    const cell = findCell(compared, run)
    const difference = cell?.kind === 'shown' ? cell.success.difference.mean : 0
    return (
      <div key={id} class="set-cell">
        <a href={formatRoute({ screen: 'run', run: id, tab: 'overview' })}>{formatPercent(success?.rate ?? null)}</a>{' '}
        {success && success.rate !== null && (
          <>
            <IntervalBar value={success.rate} low={success.low} high={success.high} />
            <br />
            {formatShareInterval(success)}
            <RunVoids run={run} successes={success.successes} />
          </>
        )}
        {isBaseline(run) && <small> baseline</small>}
        {cell?.kind === 'shown' && (
          <small class={cell.isShown ? (difference > 0 ? 'gain' : 'loss') : 'muted'}>
            {' '}
            {cell.isShown && (difference > 0 ? '✓ ' : '✗ ')}
            {formatPoints(difference * 100)} points
          </small>
        )}
        {stopped && <small class="bad"> stopped: {plain(stopped.code)}</small>}
        {cell?.kind === 'left-out' && <small class="why">not comparable: {plain(cell.why)}</small>}
      </div>
    )
  })
}
