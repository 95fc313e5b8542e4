import { voidBounds } from '@episodic/report/fold/void-bounds'
import { shortVoids, VOIDS_LEGEND } from '@episodic/report/notes/void-notes'
import {
  CURRENCY,
  formatCost,
  formatCount,
  formatInterval,
  formatKnownCost,
  formatNumber,
  formatPercent,
  formatShareInterval,
  NOTHING,
} from '@episodic/report/text/format'
import type { RunEntry } from '@episodic/report/view/run-entry'
import { useState } from 'preact/hooks'
import { Age } from '../../parts/age.tsx'
import { formatTokens } from '../../parts/amounts.ts'
import { IntervalBar } from '../../parts/interval-bar.tsx'
import { plain } from '../../parts/plain-text.tsx'
import { ProgressBar } from '../../parts/progress-bar.tsx'
import { RateBars } from '../../parts/rate-bars.tsx'
import { formatRoute } from '../../route/route.ts'
import { type RunGroup, sumRuns } from './grouped-runs.ts'
import { useRates } from './use-rates.ts'

const STATES = {
  running: { sign: '●', name: 'running' },
  counting: { sign: '…', name: 'its episodes are being counted' },
  finished: { sign: '', name: 'finished' },
  stopped: { sign: '◼', name: 'stopped before its end' },
} as const

export interface Ticks {
  readonly ticked: ReadonlySet<string>
  tick(runs: readonly string[], on: boolean): void
}

export function RunsTable({ groups, ticks }: { readonly groups: readonly RunGroup[]; readonly ticks: Ticks }) {
  const runs = groups.flatMap((group) => group.runs)
  const rateOf = useRates(runs)
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set())
  const returns = runs.flatMap(({ unshaped }) =>
    unshaped ? [unshaped.low ?? unshaped.mean, unshaped.high ?? unshaped.mean] : [],
  )
  const range = { from: Math.min(0, ...returns), to: Math.max(0, ...returns) }
  const toggle = (set: string) =>
    setClosed((before) =>
      before.has(set) ? new Set([...before].filter((one) => one !== set)) : new Set([...before, set]),
    )
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a frame that scrolls has to be reached by keys
    <section class="frame table-frame" aria-label="Runs" tabIndex={0}>
      <table class="rows runs">
        <thead>
          <tr>
            <th class="tick">
              <span class="unseen">Compare</span>
            </th>
            <th>Run</th>
            <th class="clip">World</th>
            <th class="clip">Player</th>
            <th class="number">Success</th>
            <th>
              <span class="unseen">95 % interval of success</span>
            </th>
            <th class="number">Return</th>
            <th>
              <span class="unseen">95 % interval of the return</span>
            </th>
            <th class="number">Episodes</th>
            <th>
              <span class="unseen">Progress</span>
            </th>
            <th class="number">Failed</th>
            <th class="number">Tokens</th>
            <th class="number">Cost</th>
            <th class="number">Age</th>
          </tr>
        </thead>
        {groups.map((group) => {
          const { set } = group
          const open = set === null || !closed.has(set)
          return (
            <tbody key={set === null ? group.runs[0]?.id : `set ${set}`}>
              {set !== null && <SetRow group={group} open={open} ticks={ticks} toggle={() => toggle(set)} />}
              {open &&
                group.runs.map((run) => (
                  <RunRow
                    key={run.id}
                    run={run}
                    inSet={set !== null}
                    rate={rateOf(run.id)}
                    range={range}
                    ticks={ticks}
                  />
                ))}
            </tbody>
          )
        })}
      </table>
      {runs.some(({ cost }) => cost !== null) && <p class="caption">{CURRENCY}</p>}
    </section>
  )
}

interface SetRowProps {
  readonly group: RunGroup
  readonly open: boolean
  readonly ticks: Ticks
  toggle(): void
}

function SetRow({ group: { set, runs }, open, ticks, toggle }: SetRowProps) {
  const { worlds, players, ...sums } = sumRuns(runs)
  const ids = runs.map(({ id }) => id)
  const rates = runs.flatMap(({ success }) => success?.rate ?? [])
  const all = ids.every((id) => ticks.ticked.has(id))
  return (
    <tr class="set">
      <td class="tick">
        <input
          type="checkbox"
          checked={all}
          indeterminate={!all && ids.some((id) => ticks.ticked.has(id))}
          aria-label={`Compare all runs of the set ${set}`}
          onChange={() => ticks.tick(ids, !all)}
        />
      </td>
      <th scope="rowgroup">
        <button type="button" class="bare" aria-expanded={open} onClick={toggle}>
          <span aria-hidden="true">{open ? '▾' : '▸'}</span> <span class="muted">set</span> {plain(set ?? '')}
        </button>
      </th>
      <td class="clip">{worlds.length === 1 ? plain(worlds[0] ?? '') : `${worlds.length} worlds`}</td>
      <td class="clip">{players.length === 1 ? plain(players[0] ?? '') : `${players.length} players`}</td>
      <td class="number">{formatRange(rates)}</td>
      <td>
        <RateBars runs={runs} />
      </td>
      <td colSpan={2} class="muted">
        <a href={formatRoute({ screen: 'set', set: set ?? '' })} aria-label={`Worlds and players of the set ${set}`}>
          {runs.length} {runs.length === 1 ? 'run' : 'runs'}
        </a>
      </td>
      <Episodes {...sums} />
      <td class="number">{sums.failed > 0 ? formatCount(sums.failed) : '0'}</td>
      <td class="number">{formatTokens(sums.tokens)}</td>
      <td class="number" title={sums.atLeast ? 'At least: some costs are not known.' : undefined}>
        {sums.atLeast && '≥ '}
        {formatCost(sums.cost)}
      </td>
      <td class="number">
        <Age since={sums.createdAt} />
      </td>
    </tr>
  )
}

interface RunRowProps {
  readonly run: RunEntry
  readonly inSet: boolean
  readonly rate: number | null
  readonly range: { readonly from: number; readonly to: number }
  readonly ticks: Ticks
}

function RunRow({ run, inSet, rate, range, ticks }: RunRowProps) {
  const { id, name, state, stopped, environments, players, success, unshaped, failed } = run
  const { sign, name: stateName } = STATES[state]
  const ticked = ticks.ticked.has(id)
  return (
    <tr class={`${inSet ? 'in-set ' : ''}${ticked ? 'chosen' : ''}`}>
      <td class="tick">
        <input
          type="checkbox"
          checked={ticked}
          aria-label={`Compare ${name}`}
          data-run={id}
          onChange={() => ticks.tick([id], !ticked)}
        />
      </td>
      <th scope="row">
        <span class={`state ${state}`} {...(sign && { role: 'img', 'aria-label': stateName, title: stateName })}>
          {sign}
        </span>
        <a href={formatRoute({ screen: 'run', run: id, tab: 'overview' })} data-row={id}>
          {plain(name)}
        </a>
        {stopped && (
          <span class="stop muted" title={stopped.message}>
            {plain(stopped.code.replaceAll('-', ' '))}
          </span>
        )}
      </th>
      <td class="clip" title={environments.join(', ')}>
        {plain(environments.join(', '))}
      </td>
      <td class="clip" title={players.join(', ')}>
        {plain(run.member?.player ?? players.join(', '))}
      </td>
      <td class="number" title={success ? `95 % interval: ${formatShareInterval(success)}` : 'Being counted'}>
        {success ? formatPercent(success.rate) : '…'}
        {success && <RunVoids run={run} successes={success.successes} />}
      </td>
      <td>{success && <IntervalBar value={success.rate} low={success.low} high={success.high} />}</td>
      <td class="number" title={unshaped ? `95 % interval: ${formatInterval(unshaped)}` : undefined}>
        {unshaped ? formatNumber(unshaped.mean) : success ? NOTHING : '…'}
      </td>
      <td>
        {unshaped && (
          <IntervalBar {...range} value={unshaped.mean} low={unshaped.low} high={unshaped.high} width={60} />
        )}
      </td>
      <Episodes {...run} rate={rate} />
      <td class={`number ${failed > 0 ? 'bad' : 'muted'}`}>{formatCount(failed)}</td>
      <td class="number">{formatTokens(run.tokens)}</td>
      <td class="number">{formatKnownCost(run)}</td>
      <td class="number">
        <Age since={run.createdAt} />
      </td>
    </tr>
  )
}

export function RunVoids({ run, successes }: { readonly run: RunEntry; readonly successes: number }) {
  const { finished, failed, retried = null, unearned } = run
  const notes = shortVoids({ failed, bounds: voidBounds({ successes, finished, failed }), retried, unearned })
  return notes.map((note) => (
    <small key={note} class="muted" title={VOIDS_LEGEND}>
      {' '}
      {note}
    </small>
  ))
}

interface EpisodesProps {
  readonly scheduled: number
  readonly finished: number
  readonly failed: number
  readonly rate?: number | null
}

function Episodes({ scheduled, finished, failed, rate = null }: EpisodesProps) {
  const sealed = finished + failed
  return (
    <>
      <td class="number">
        {formatCount(sealed)}
        {sealed < scheduled && <span class="muted">/{formatCount(scheduled)}</span>}
      </td>
      <td class="progress">
        {sealed < scheduled && <ProgressBar finished={finished} failed={failed} scheduled={scheduled} />}
        {rate !== null && <span class="muted"> {formatNumber(rate)}/s</span>}
      </td>
    </>
  )
}

function formatRange(rates: readonly number[]): string {
  if (rates.length === 0) return '…'
  const [low, high] = [formatPercent(Math.min(...rates)), formatPercent(Math.max(...rates))]
  return low === high ? low : `${low.replace(' %', '')}–${high}`
}
