import { computeStaleness, formatCost, formatDuration, formatNumber, plural, type RowWords } from '@episodic/report'
import type { ComponentChildren } from 'preact'
import { formatTokens } from '../parts/amounts.ts'
import { NamedFigure } from '../parts/figure-strip.tsx'
import { plain } from '../parts/plain-text.tsx'
import { ResultBadge } from '../parts/result.tsx'
import { type EpisodeRoute, formatRoute } from '../route/route.ts'
import type { EpisodeModel, LoadedEpisode } from './episode-model.ts'

/** The episodes before and after one in the list that it was opened from. */
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
  const { record, shown, figures, result, ending, seats, seat } = model
  const { task } = record
  const known = (value: number) => (Number.isNaN(value) ? null : value)
  const tokens = known(figures.promptTokens + figures.completionTokens)
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
      <dl class="figure-list flow loose block">
        <NamedFigure name="return" title="the sum of weighted rewards, not shaped">
          <b>{formatNumber(known(figures.unshaped))}</b>
        </NamedFigure>
        {figures.total !== figures.unshaped && !Number.isNaN(figures.total) && (
          <NamedFigure name="shaped">{formatNumber(figures.total)}</NamedFigure>
        )}
        {figures.discounted !== figures.total && !Number.isNaN(figures.discounted) && (
          <NamedFigure name="discounted">{formatNumber(figures.discounted)}</NamedFigure>
        )}
        <NamedFigure name="steps">
          {figures.steps}
          {figures.refused > 0 && <span class="loss"> ✗ {figures.refused} refused</span>}
        </NamedFigure>
        {tokens !== null && (
          <NamedFigure name="tokens">
            {formatTokens(tokens)}
            <span class="muted"> ({formatTokens(figures.completionTokens)} written)</span>
          </NamedFigure>
        )}
        {tokens !== null && <NamedFigure name="cost">{formatCost(known(figures.cost))}</NamedFigure>}
        {known(figures.modelMilliseconds) !== null && (
          <NamedFigure name="model" swatch>
            {formatDuration(figures.modelMilliseconds)}
          </NamedFigure>
        )}
        <NamedFigure name="world" swatch>
          {formatDuration(known(figures.worldMilliseconds))}
        </NamedFigure>
        {figures.waitedMilliseconds > 0 && (
          <NamedFigure name="waited" swatch>
            {formatDuration(figures.waitedMilliseconds)}
          </NamedFigure>
        )}
        {figures.cut > 0 && <NamedFigure name="cut">▲ {formatTokens(figures.cut)} characters</NamedFigure>}
        <NamedFigure name="player">{plain(figures.player)}</NamedFigure>
        {model.versions && (
          <NamedFigure name="policy version" title="version of the weights that wrote its oldest answer">
            <VersionText versions={model.versions} />
          </NamedFigure>
        )}
        <NamedFigure name="difficulty">{formatNumber(task.difficulty)}</NamedFigure>
        <NamedFigure name="split">{task.split}</NamedFigure>
        {task.tags.length > 0 && <NamedFigure name="tags">{plain(task.tags.join(', '))}</NamedFigure>}
        {shown.branch && <NamedFigure name="branch">{branchText(shown.branch)}</NamedFigure>}
      </dl>
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

function VersionText({ versions: { oldest, newest } }: { readonly versions: NonNullable<EpisodeModel['versions']> }) {
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
