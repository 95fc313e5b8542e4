import type { Json } from '@episodic/protocol'
import { applyChanges } from '@episodic/report/view/apply-changes'
import type { EpisodeStates } from '@episodic/report/view/state-changes'
import { useContext, useMemo } from 'preact/hooks'
import { DiffLineView } from '../parts/diff-lines.tsx'
import { type DiffLine, lineDiff } from '../parts/line-diff.ts'
import { EmptyNote, LoadingNote } from '../parts/notes.tsx'
import { plain } from '../parts/plain-text.tsx'
import { VirtualList } from '../parts/virtual/virtual-list.tsx'
import type { Loaded } from '../source/use-source.ts'
import { HashMark, PrivateContext } from './change-list.tsx'
import type { EpisodeModel } from './episode-model.ts'

interface StateTabProps {
  readonly model: EpisodeModel
  readonly states: Loaded<EpisodeStates>
  readonly step: number | null
}

export function StateTab({ model, states: { value: states, error }, step }: StateTabProps) {
  const secret = useContext(PrivateContext)
  const all = useMemo(() => (states?.start ? allStates(states) : []), [states])
  if (error)
    return (
      <EmptyNote title="The states could not be computed.">
        <p>{plain(error.message)}</p>
      </EmptyNote>
    )
  if (!states) return <LoadingNote>Playing the episode again …</LoadingNote>
  if (states.source === 'unavailable' || all.length === 0)
    return (
      <EmptyNote title="There are no states of this episode.">
        <p class="muted">{plain(states.why ?? 'They were not recorded, and the rules of the world are not there.')}</p>
      </EmptyNote>
    )
  const wanted = step === null ? 0 : step + 1
  const place = Math.min(wanted, all.length - 1)
  const [before, after] = [all[Math.max(0, place - 1)], all[place]]
  const isBeyond = wanted > place
  const hash = place > 0 ? (model.shown.steps[place - 1]?.stateHash ?? null) : null
  return (
    <section class="state-tab">
      <p class="block">
        <b>{place === 0 ? 'Before the first step' : `After step ${place}`}</b>{' '}
        {place > 0 && !isBeyond && before?.public === after?.public && before?.private === after?.private && (
          <span class="muted">It changed nothing. </span>
        )}
        {place > 0 && <HashMark source={states.source} stateHash={hash} />}
        {isBeyond && <span class="loss"> ▲ There is no later state. </span>}
        {states.why !== null && <span class={isBeyond ? 'loss' : 'muted'}>{plain(states.why)}</span>}
      </p>
      <h2>{states.source === 'observed' ? 'Observed' : 'Public'}</h2>
      <StateDiff label="Public state" before={before?.public ?? null} after={after?.public ?? null} />
      {hasValues(after?.private) && (
        <>
          <h2>Private</h2>
          {secret.shown ? (
            <StateDiff label="Private state" before={before?.private ?? null} after={after?.private ?? null} />
          ) : (
            <p>
              <button type="button" class="button" onClick={secret.show}>
                Show what the player could not see
              </button>
            </p>
          )}
        </>
      )}
    </section>
  )
}

function StateDiff({ label, before, after }: { readonly label: string; readonly before: Json; readonly after: Json }) {
  const lines = useMemo(() => lineDiff(pretty(before), pretty(after)), [before, after])
  const shown = useMemo(() => firstChange(lines), [lines])
  return (
    <div class="diff card">
      <VirtualList
        count={lines.length}
        estimate={19}
        label={label}
        shown={shown}
        render={(i) => <DiffLineView line={lines[i] as DiffLine} />}
      />
    </div>
  )
}

function firstChange(lines: readonly DiffLine[]): { readonly index: number } | null {
  const index = lines.findIndex(({ mark }) => mark !== 'same')
  return index > 40 ? { index: index - 6 } : null
}

interface FullState {
  readonly public: Json
  readonly private: Json
}

/** The state before the first step and after each; what does not change is shared, to take little memory. */
function allStates({ start, steps }: EpisodeStates): FullState[] {
  if (!start) return []
  const states: FullState[] = [start]
  for (const changes of steps) {
    const last = states.at(-1) as FullState
    states.push({
      public: applyChanges(last.public, changes.public),
      private: applyChanges(last.private, changes.private),
    })
  }
  return states
}

function hasValues(value: Json | undefined): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0
}

function pretty(value: Json): string {
  return `${JSON.stringify(value, null, 2)}\n`
}
