import type { SealedRecord } from '@episodic/protocol'
import type { Continuation } from '@episodic/report/view/continuations'
import { useState } from 'preact/hooks'
import { findTask } from '../episode/load-episode.ts'
import { ActionTreeView } from '../group/action-tree-view.tsx'
import type { Attempt } from '../group/attempts.ts'
import { loadGroup } from '../group/load-group.ts'
import { plain } from '../parts/plain-text.tsx'
import { ResultBadge } from '../parts/result.tsx'
import { episodeHref, formatRoute } from '../route/route.ts'
import type { Source } from '../source/source.ts'
import { useLoaded } from '../source/use-source.ts'

interface ContinuedRunsProps {
  readonly task: string
  readonly continuation: Continuation
  /** Grows whenever there may be more to show. */
  readonly version: number
  readonly onStop: () => void
}

export function ContinuedRuns({ task, continuation, version, onStop }: ContinuedRunsProps) {
  const { step, changed, runs, isPlaying, problem } = continuation
  const { value } = useLoaded(
    async (source) => [
      ...(await loadBranches(source, 'control', runs.control, task)),
      ...(await loadBranches(source, 'changed', runs.changed, task)),
    ],
    [runs.control, runs.changed, task],
    version,
  )
  const [ticked, setTicked] = useState<readonly string[]>([])
  const branches = value?.flatMap(({ branches }) => branches) ?? []
  const [one, other] = ticked.map((key) => branches.find((branch) => keyOf(branch) === key))
  return (
    <article class="card">
      <h3 class="flow apart">
        <span>
          Step {step + 1}: {plain(changed)}
        </span>
        {isPlaying && (
          <button type="button" class="button small" onClick={onStop}>
            Stop
          </button>
        )}
      </h3>
      {problem !== null && <p class="callout">{plain(problem)}</p>}
      {value?.map(({ kind, id, branches, inFlight, state }) => (
        <p key={kind} role="status">
          <a href={formatRoute({ screen: 'run', run: id, tab: 'overview' })}>{kind}</a>:{' '}
          <b>
            {branches.filter(({ attempt }) => attempt.result === 'succeeded').length} of {branches.length}
          </b>{' '}
          succeeded {state === 'stopped' && <span class="muted">· stopped: its page has the command to resume it</span>}
          {inFlight.map(({ attempt, steps, call }) => (
            <a key={attempt} class="badge" href={episodeHref(id, task, attempt)} title={call ?? ''}>
              {attempt} at step {step + steps}
            </a>
          ))}
        </p>
      ))}
      {branches.length > 0 && (
        <ActionTreeView
          records={branches.map(({ record }) => record)}
          end={(i) => {
            const branch = branches[i] as Branch
            const { words, result } = branch.attempt
            const key = keyOf(branch)
            return (
              <span key={key} class="tree-end">
                <input
                  type="checkbox"
                  aria-label={`${key} side by side`}
                  checked={ticked.includes(key)}
                  // Of three ticks the first is let go.
                  onChange={() =>
                    setTicked(ticked.includes(key) ? ticked.filter((one) => one !== key) : [...ticked.slice(-1), key])
                  }
                />{' '}
                <a href={episodeHref(branch.id, words.task, words.attempt)}>
                  <ResultBadge result={result} /> {key}
                </a>
              </span>
            )
          }}
        />
      )}
      {one && other ? (
        <a
          class="button primary"
          href={episodeHref(one.id, task, one.attempt.words.attempt, {
            beside: `${other.id}:${other.attempt.words.attempt}`,
          })}
        >
          Open both side by side
        </a>
      ) : (
        branches.length > 1 && <p class="muted small">Tick two to open them side by side.</p>
      )}
    </article>
  )
}

interface Branch {
  readonly kind: string
  readonly id: string
  readonly attempt: Attempt
  readonly record: SealedRecord
}

function keyOf({ kind, attempt: { words } }: Branch): string {
  return `${kind} ${words.attempt}`
}

async function loadBranches(source: Source, kind: string, id: string | undefined, task: string) {
  if (id === undefined) return []
  const { inFlight, entry } = await source.run(id)
  const found = await findTask(source, id, task)
  const { attempts, records } = 'task' in found ? await loadGroup(source, id, found) : { attempts: [], records: [] }
  const branches = records.map((record, i): Branch => ({ kind, id, attempt: attempts[i] as Attempt, record }))
  return [{ kind, id, branches, inFlight, state: entry.state }]
}
