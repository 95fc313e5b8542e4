import { computeStaleness } from '@episodic/report/fold/policy-versions'
import { formatCost, formatDuration, formatNumber, plural } from '@episodic/report/text/format'
import type { RowWords } from '@episodic/report/view/run-entry'
import type { ComponentChildren } from 'preact'
import { formatTokens } from '../parts/amounts.ts'
import { FigureList, type NamedFigure } from '../parts/figure-strip.tsx'
import { plain } from '../parts/plain-text.tsx'
import { ResultBadge } from '../parts/result.tsx'
import { type EpisodeRoute, formatRoute } from '../route/route.ts'
import type { EpisodeModel, LoadedEpisode } from './episode-model.ts'

export interface Neighbours {
  readonly previous: RowWords | null
  readonly next: RowWords | null
  /** From 1; `null` if it is not in the list. */
  readonly place: { readonly number: number; readonly count: number; readonly href: string } | null
}

interface EpisodeHeaderProps {
  readonly route: EpisodeRoute
  readonly model: EpisodeModel
  readonly loaded: LoadedEpisode
  readonly neighbours: Neighbours
  readonly onSeat: (seat: string) => void
}

export function EpisodeHeader({ route, model, loaded, neighbours, onSeat }: EpisodeHeaderProps) {
  const { record, result, ending, seats, seat } = model
  const { task } = record
  return (
    <header class="episode-header">
      <div class="flow apart">
        <h1>
          <ResultBadge result={result} ending={ending} /> <span class="muted">attempt {record.attempt}</span>
        </h1>
        <nav class="flow" aria-label="Episodes">
          <RowLink route={route} to={neighbours.previous} rel="prev">
            ‹ previous
          </RowLink>
          {neighbours.place && (
            <a href={neighbours.place.href} title="the list that it was opened from">
              {neighbours.place.number} of {neighbours.place.count}
            </a>
          )}
          <RowLink route={route} to={neighbours.next} rel="next">
            next ›
          </RowLink>
          <a href={formatRoute({ screen: 'group', run: route.run, task: task.id })}>group</a>
        </nav>
      </div>
      <p class="episode-prompt wrap">{plain(task.prompt)}</p>
      {model.message !== null && <p class="callout wrap">{plain(model.message)}</p>}
      <FigureList look="figure-list block" figures={figuresOf(model)} />
      {seats.length > 0 && (
        <fieldset class="flow block">
          <legend class="unseen">Seat whose figures are shown</legend>
          {seats.map((name) => (
            <button key={name} type="button" class="pill" aria-pressed={name === seat} onClick={() => onSeat(name)}>
              {plain(name)}
              {'seats' in record && (
                <span class="muted">
                  {' '}
                  {plain(record.seats[name]?.policy.name ?? '')}{' '}
                  {formatNumber(record.seats[name]?.returns?.unshaped ?? null)}
                </span>
              )}
            </button>
          ))}
        </fieldset>
      )}
      {loaded.tries.length > 1 && (
        <nav class="flow block" aria-label="Tries of this episode">
          <span class="muted">played {loaded.tries.length} times:</span>
          {loaded.tries.map((words) => (
            <a
              key={words.row}
              class="pill"
              href={formatRoute({ ...route, try: words.try, step: null })}
              aria-current={words.row === loaded.words.row ? 'true' : undefined}
              title={words.message ?? 'finished'}
            >
              try {words.try} {words.message === null ? '✓ finished' : '! failed'}
            </a>
          ))}
        </nav>
      )}
    </header>
  )
}

function figuresOf({ figures, record: { task }, shown, versions }: EpisodeModel): NamedFigure[] {
  const { unshaped, total, discounted, steps, refused, completionTokens, cut, waitedMilliseconds } = figures
  const known = (value: number) => (Number.isNaN(value) ? null : value)
  const tokens = known(figures.promptTokens + completionTokens)
  return [
    ['return', <b>{formatNumber(known(unshaped))}</b>, 'the sum of weighted rewards, not shaped'],
    total !== unshaped && known(total) !== null && ['shaped', formatNumber(total)],
    discounted !== total && known(discounted) !== null && ['discounted', formatNumber(discounted)],
    [
      'steps',
      <>
        {steps}
        {refused > 0 && <span class="loss"> ✗ {refused} refused</span>}
      </>,
    ],
    tokens !== null && [
      'tokens',
      <>
        {formatTokens(tokens)} <span class="muted">({formatTokens(completionTokens)} written)</span>
      </>,
    ],
    tokens !== null && ['cost', formatCost(known(figures.cost))],
    known(figures.modelMilliseconds) !== null && ['model', formatDuration(figures.modelMilliseconds)],
    ['world', formatDuration(known(figures.worldMilliseconds))],
    waitedMilliseconds > 0 && ['waited', formatDuration(waitedMilliseconds)],
    cut > 0 && ['cut', `▲ ${formatTokens(cut)} characters`],
    ['player', plain(figures.player)],
    versions && ['policy version', versionText(versions), 'version of the weights that wrote its oldest answer'],
    ['difficulty', formatNumber(task.difficulty)],
    ['split', task.split],
    task.tags.length > 0 && ['tags', plain(task.tags.join(', '))],
    shown.branch && ['branch', branchText(shown.branch)],
  ]
}

interface RowLinkProps {
  readonly route: EpisodeRoute
  readonly to: RowWords | null
  readonly rel: string
  readonly children: ComponentChildren
}

function RowLink({ route, to, rel, children }: RowLinkProps) {
  if (!to) return <span class="muted">{children}</span>
  return (
    <a rel={rel} href={formatRoute(routeOf(route, to))}>
      {children}
    </a>
  )
}

export function routeOf({ run, tab, seat }: EpisodeRoute, { task, attempt, try: number }: RowWords): EpisodeRoute {
  const route = { screen: 'episode', run, task, attempt, try: number || null, step: null, tab } as const
  return seat === undefined ? route : { ...route, seat }
}

function versionText({ oldest, newest }: NonNullable<EpisodeModel['versions']>) {
  const updates = computeStaleness(oldest, newest)
  return (
    <>
      {plain(oldest)}
      {newest !== oldest && (
        <span class="muted">
          {' '}
          to {plain(newest)}
          {updates !== null && `, ${plural(updates, 'update')} later`}
        </span>
      )}
    </>
  )
}

function branchText({ rollout, path, at, copies }: NonNullable<EpisodeModel['shown']['branch']>): string {
  const forks = at.map((step, i) => `${path[i]} after step ${step}`).join(', ')
  const same = copies > 1 ? `; ${copies} leaves are this episode` : ''
  return `tree ${rollout}, continuation ${forks}${same}`
}
