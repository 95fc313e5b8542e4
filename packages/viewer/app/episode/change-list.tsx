import type { Json } from '@episodic/protocol'
import { plural } from '@episodic/report/text/format'
import { keysOf } from '@episodic/report/view/apply-changes'
import type { EpisodeStates, StateChange } from '@episodic/report/view/state-changes'
import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import { DiffLineView, DiffPieces } from '../parts/diff-lines.tsx'
import { Fold } from '../parts/folds.tsx'
import { lineDiff, wordDiff } from '../parts/line-diff.ts'
import { plain } from '../parts/plain-text.tsx'
import { changesOfStep } from './episode-model.ts'
import { Row } from './message-view.tsx'

/** Whether a reader asked to see private state, and how to ask. */
export const PrivateContext = createContext<{ readonly shown: boolean; readonly show: () => void }>({
  shown: false,
  show: () => {},
})

const MOST_SHOWN = 8
const MOST_TEXT = 120

interface StepChangesRowProps {
  readonly states: EpisodeStates | null
  readonly step: number
  readonly stateHash: string | null
}

export function StepChangesRow({ states, step, stateHash }: StepChangesRowProps) {
  const secret = useContext(PrivateContext)
  if (!states || states.source === 'unavailable') return null
  if (states.partsAt === step)
    return (
      <Row label="state" kind="fault">
        ✗ {plain(states.why ?? 'It is not the one that was recorded.')}
      </Row>
    )
  const changes = changesOfStep(states, step)
  if (!changes) return null
  const isEmpty = changes.public.length === 0 && changes.private.length === 0
  return (
    <Row label="state" kind="changed">
      {isEmpty && <span class="muted">no change </span>}
      <ChangeList id={`changes:public/${step}`} changes={changes.public} prefix="public" />
      {changes.private.length > 0 &&
        (secret.shown ? (
          <ChangeList id={`changes:private/${step}`} changes={changes.private} prefix="private" />
        ) : (
          <button type="button" class="bare text-more" onClick={secret.show}>
            private: {plural(changes.private.length, 'change')}, hidden ▸
          </button>
        ))}
      <HashMark source={states.source} stateHash={stateHash} />
    </Row>
  )
}

interface HashMarkProps {
  readonly source: EpisodeStates['source']
  readonly stateHash: string | null
}

export function HashMark({ source, stateHash }: HashMarkProps) {
  if (source === 'observed')
    return (
      <span class="push muted small" title="Another system kept the state: these are its structured observations.">
        observed
      </span>
    )
  return (
    <span class="push muted small" title={`The replayed state has the recorded hash ${stateHash ?? ''}`}>
      hash ✓
    </span>
  )
}

interface ChangeListProps {
  readonly id: string
  readonly changes: readonly StateChange[]
  readonly prefix: string
}

function ChangeList({ id, changes, prefix }: ChangeListProps) {
  if (changes.length === 0) return null
  const list = () => (
    <ul class="flow">
      {changes.map((change, i) => (
        <li key={i}>
          <Change change={change} prefix={prefix} />
        </li>
      ))}
    </ul>
  )
  if (changes.length <= MOST_SHOWN) return list()
  return (
    <Fold id={id} summary={`${prefix}: ${plural(changes.length, 'change')}`}>
      {list}
    </Fold>
  )
}

interface ChangeProps {
  readonly change: StateChange
  readonly prefix: string
}

function Change({ change: { path, before, after }, prefix }: ChangeProps) {
  const name = [prefix, ...keysOf(path)].join('.')
  return (
    <code class="change">
      <span class="muted">{plain(name)}</span>{' '}
      {before !== undefined && after !== undefined ? (
        <Changed before={before} after={after} />
      ) : after === undefined ? (
        <del>− {plain(shorten(before))}</del>
      ) : (
        <ins>+ {plain(shorten(after))}</ins>
      )}
    </code>
  )
}

function Changed({ before, after }: { readonly before: Json; readonly after: Json }) {
  if (typeof before === 'string' && typeof after === 'string' && before.length + after.length > 40) {
    if (before.includes('\n')) return <ChangedLines before={before} after={after} />
    const { removed, added } = wordDiff(before, after)
    return (
      <>
        <span class="removed">
          <DiffPieces pieces={removed} mark="removed" />
        </span>{' '}
        →{' '}
        <span class="added">
          <DiffPieces pieces={added} mark="added" />
        </span>
      </>
    )
  }
  return (
    <>
      <del>{plain(shorten(before))}</del> → <ins>{plain(shorten(after))}</ins>
    </>
  )
}

const AROUND = 2

function ChangedLines({ before, after }: { readonly before: string; readonly after: string }) {
  const lines = lineDiff(before, after)
  const shown = lines.map((_, i) =>
    lines.slice(Math.max(0, i - AROUND), i + AROUND + 1).some(({ mark }) => mark !== 'same'),
  )
  return (
    <div class="diff">
      {lines.map((line, i) => (shown[i] ? <DiffLineView key={i} line={line} /> : shown[i - 1] && <div key={i}>…</div>))}
    </div>
  )
}

function shorten(value: Json | undefined): string {
  const text = JSON.stringify(value) ?? ''
  return text.length <= MOST_TEXT ? text : `${text.slice(0, MOST_TEXT).toWellFormed()}…`
}
