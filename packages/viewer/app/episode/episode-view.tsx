import type { SealedRecord } from '@episodic/protocol'
import { sealNameOf } from '@episodic/report/grades/gradable-lines'
import { graderKeyOf } from '@episodic/report/grades/grade-fold'
import type { GradeRecord } from '@episodic/report/grades/grade-record'
import { useContext, useEffect, useMemo, useState } from 'preact/hooks'
import { PlayContext } from '../continue/play-context.ts'
import { useKeys } from '../keys/use-keys.ts'
import { findPlace, useRowList } from '../list/row-list.ts'
import { FoldsContext, useFolds } from '../parts/folds.tsx'
import { FoundContext } from '../parts/found-text.tsx'
import { EPISODE_TABS, type EpisodeRoute, type EpisodeTab, formatRoute } from '../route/route.ts'
import { openRoute } from '../route/use-route.ts'
import { useLoaded } from '../source/use-source.ts'
import { PrivateContext } from './change-list.tsx'
import { EpisodeHeader, type Neighbours, routeOf } from './episode-header.tsx'
import { episodeModel, type LoadedEpisode } from './episode-model.ts'
import { FindBar } from './find-bar.tsx'
import { ForkAdvantages } from './fork-advantages.tsx'
import { GradesTab } from './grades-tab.tsx'
import { RawTab } from './raw-tab.tsx'
import { RewardsTab } from './rewards-tab.tsx'
import { SentTab } from './sent-tab.tsx'
import { StateTab } from './state-tab.tsx'
import { StepPlots } from './step-plots.tsx'
import { TranscriptTab } from './transcript-tab.tsx'

const TAB_NAMES: { readonly [tab in EpisodeTab]: string } = {
  transcript: 'Transcript',
  state: 'State',
  rewards: 'Rewards',
  sent: 'Sent',
  raw: 'Raw line',
  grades: 'Grades',
  continue: 'Continue',
}

export function EpisodeView({ route, episode }: { readonly route: EpisodeRoute; readonly episode: LoadedEpisode }) {
  const { record, text, words } = episode
  const { run, tab } = route
  const seat = route.seat ?? null
  const [isPrivateShown, showPrivate] = useState(false)
  const [find, setFind] = useState('')
  const play = useContext(PlayContext)
  const folds = useFolds()
  const model = useMemo(() => episodeModel(record, seat), [record, seat])
  const states = useLoaded((source) => source.states(run, words.row), [run, words.row])
  const allGrades = useLoaded((source) => source.grades(run), [run])
  const grades = useMemo(() => ownGrades(allGrades.value ?? [], record), [allGrades.value, record])
  const neighbours = useNeighbours(run, words.row)
  const { steps } = model.shown
  const step = route.step === null || steps.length === 0 ? null : Math.min(route.step, steps.length - 1)
  const [shown, setShown] = useState<{ readonly index: number } | null>(null)
  useEffect(() => {
    if (step !== null) setShown({ index: step + 1 })
  }, [step, tab])

  const choose = (next: number | null, toTab: EpisodeTab = tab) => {
    openRoute({ ...route, step: next, tab: toTab }, { replace: true })
    if (next === null) setShown({ index: 0 })
  }
  const go = (to: number) => {
    if (steps.length === 0) return
    choose(to < 0 ? null : Math.min(to, steps.length - 1))
  }
  const open = (to: typeof neighbours.next) => to && openRoute(routeOf(route, to))
  const openThoughts = !folds.isOpen('thought', false)
  useKeys('Episode', [
    { key: 'ArrowLeft', label: 'step before', run: () => go((step ?? 0) - 1) },
    { key: 'ArrowRight', label: 'next step', run: () => go((step ?? -1) + 1) },
    {
      key: 'n',
      label: 'next change of reward, or refusal',
      run: () => go(model.notable.find((index) => index > (step ?? -1)) ?? step ?? -1),
    },
    {
      key: 'N',
      label: 'the one before',
      run: () => go(model.notable.findLast((index) => index < (step ?? 0)) ?? step ?? -1),
    },
    { key: 'e', label: 'open or fold all reasoning', run: () => folds.setAll('thought', openThoughts) },
    { key: 's', label: 'state, or transcript', run: () => choose(step, tab === 'state' ? 'transcript' : 'state') },
    ...(play ? [{ key: 'c', label: 'continue from the step', run: () => choose(step, 'continue') }] : []),
    { key: 'f', label: 'find in the episode', run: () => document.getElementById('find-in-episode')?.focus() },
    { key: '[', label: 'previous episode', run: () => open(neighbours.previous) },
    { key: ']', label: 'next episode', run: () => open(neighbours.next) },
    {
      key: 'g',
      label: 'all attempts at the task',
      run: () => openRoute({ screen: 'group', run, task: record.task.id }),
    },
  ])
  const counts: { readonly [tab in EpisodeTab]?: number } = { sent: model.answers.length, grades: grades.length }
  return (
    <FoldsContext.Provider value={folds}>
      <PrivateContext.Provider value={{ shown: isPrivateShown, show: () => showPrivate(true) }}>
        <FoundContext.Provider value={find}>
          <div class="episode">
            <EpisodeHeader
              route={route}
              model={model}
              loaded={episode}
              neighbours={neighbours}
              onSeat={(name) => openRoute({ ...route, seat: name }, { replace: true })}
            />
            <div class="episode-bar">
              <StepPlots model={model} step={step} onStep={choose} />
              <div class="flow mid apart">
                <nav class="tabs" aria-label="Parts of the episode">
                  {EPISODE_TABS.filter((name) => name !== 'continue' || play).map((name) => (
                    <a
                      key={name}
                      href={formatRoute({ ...route, tab: name })}
                      aria-current={name === tab ? 'page' : undefined}
                      onClick={(event) => {
                        if (event.ctrlKey || event.metaKey || event.shiftKey) return
                        event.preventDefault()
                        openRoute({ ...route, tab: name }, { replace: true })
                      }}
                    >
                      {TAB_NAMES[name]}
                      {(counts[name] ?? 0) > 0 && <small> {counts[name]}</small>}
                    </a>
                  ))}
                </nav>
                <FindBar
                  model={model}
                  find={find}
                  onFind={(wanted) => {
                    setFind(wanted)
                    if (wanted && tab !== 'transcript') openRoute({ ...route, tab: 'transcript' }, { replace: true })
                  }}
                  onEntry={(entry) => {
                    if (entry > 0 && entry <= steps.length) choose(entry - 1, 'transcript')
                    else setShown({ index: entry })
                  }}
                />
              </div>
            </div>
            {tab === 'transcript' && (
              <TranscriptTab model={model} states={states.value} step={step} shown={shown} onStep={choose} />
            )}
            {tab === 'transcript' && play && <play.Below {...{ run, model }} row={words.row} />}
            {tab === 'state' && <StateTab model={model} states={states} step={step} />}
            {tab === 'rewards' && <ForkAdvantages run={run} record={record} />}
            {tab === 'rewards' && <RewardsTab model={model} step={step} onStep={(to) => choose(to, 'transcript')} />}
            {tab === 'sent' && <SentTab model={model} step={step} />}
            {tab === 'raw' && <RawTab record={record} text={text} />}
            {tab === 'continue' && play && <play.Tab {...{ model, row: words.row, run, step }} states={states.value} />}
            {tab === 'grades' && <GradesTab grades={grades} onStep={(to) => choose(to, 'transcript')} />}
          </div>
        </FoundContext.Provider>
      </PrivateContext.Provider>
    </FoldsContext.Provider>
  )
}

/** Returns the verdicts on a line that count: of each grader and vote the one with the highest revision. */
function ownGrades(grades: readonly GradeRecord[], record: SealedRecord): GradeRecord[] {
  const seal = sealNameOf(record)
  const latest = new Map<string, GradeRecord>()
  for (const grade of grades) {
    if (grade.seal !== seal || grade.planted) continue
    const key = `${graderKeyOf(grade.grader)} ${grade.vote} ${grade.seat ?? ''}`
    const known = latest.get(key)
    if (!known || grade.revision > known.revision) latest.set(key, grade)
  }
  return [...latest.values()].sort((a, b) => (a.grader.name < b.grader.name ? -1 : 1))
}

/** The episodes around a row: in the list that it was opened from, else in the order of the file. */
function useNeighbours(run: string, row: number): Neighbours {
  const list = useRowList(run)
  const place = list ? findPlace(list, row) : null
  const { value: rows } = useLoaded(
    async (source) => (place ? 0 : (await source.listing(run)).rows),
    [run, place === null],
  )
  const previous = place ? place.previous : row > 0 ? row - 1 : null
  const next = place ? place.next : row + 1 < (rows ?? 0) ? row + 1 : null
  const { value: words } = useLoaded(
    (source) =>
      source.words(
        run,
        [previous, next].filter((one) => one !== null),
      ),
    [run, previous, next],
  )
  const wordsOfRow = (wanted: number | null) => words?.find((one) => one.row === wanted) ?? null
  return {
    previous: wordsOfRow(previous),
    next: wordsOfRow(next),
    place: place
      ? { number: place.index + 1, count: place.count, href: place.href }
      : rows
        ? { number: row + 1, count: rows, href: formatRoute({ screen: 'episodes', run, query: '', sort: '' }) }
        : null,
  }
}
