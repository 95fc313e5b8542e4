import { shownValue } from '@episodic/analysis/replay/divergence'
import { replaySteps } from '@episodic/analysis/replay/replay-episode'
import type { Origins } from '@episodic/analysis/replay/replayed-step'
import type { EnvironmentDefinition } from '@episodic/mcp-server'
import type { Json, SealedRecord } from '@episodic/protocol'
import { hasStarted } from '@episodic/report/seats/seat-record'
import { changesBetween } from '@episodic/report/view/changes-between'
import type { EpisodeStates, StepChanges } from '@episodic/report/view/state-changes'
import type { SessionState } from '@episodic/state'

interface Parts {
  readonly public: Json
  /** With several seats, also what is each seat's own. */
  readonly private: Json
}

/** Returns what each step changed, as far as a strict replay agrees with the line. */
export function replayStates(
  environment: EnvironmentDefinition,
  record: SealedRecord,
  origins: Origins = new Map(),
): EpisodeStates {
  if (!hasStarted(record)) return unavailable('The session of this episode was never opened, so it has no state.')
  let start: Parts | null = null
  let last: Parts | null = null
  const steps: StepChanges[] = []
  for (const { step, state, difference } of replaySteps(environment, record, {
    strict: true,
    scoring: null,
    origins,
    mayLeave: true,
  })) {
    // What differs as a whole, such as the end, is no state.
    if (step === null) break
    if (difference) {
      const { field, recorded, replayed } = difference
      const place = step === 0 ? 'at the start' : `at step ${step}`
      const why =
        field === 'rules' ? replayed : `${field} is ${shownValue(replayed)}, and the line has ${shownValue(recorded)}`
      return {
        source: 'replayed',
        why: `The replay parts from the line ${place}: ${why}. The rules have changed since, or the line was edited.`,
        partsAt: Math.max(0, step - 1),
        start,
        steps,
      }
    }
    const parts = partsOf(state as SessionState)
    // Parts of a large state read from its pages, and only plain values leave the thread.
    if (last === null) start = structuredClone(parts)
    else
      steps.push({
        step: step - 1,
        public: structuredClone(changesBetween(last.public, parts.public)),
        private: structuredClone(changesBetween(last.private, parts.private)),
      })
    last = parts
  }
  return { source: 'replayed', why: null, partsAt: null, start, steps }
}

/** Returns what changed between the structured observations of an episode whose state nobody here has. */
export function observedStates(record: SealedRecord): EpisodeStates {
  const [first] = 'seats' in record ? Object.values(record.seats) : [record]
  const start = (first?.start?.observation.structured ?? {}) as Json
  const observations = record.steps.map(({ observation }) => observation.structured as Json | null)
  if (observations.every((structured) => structured === null))
    return unavailable(
      'The server of another system kept the state of this episode, and its observations are texts alone.',
    )
  let last = start
  const steps = observations.map((structured, step): StepChanges => {
    const now = structured ?? last
    const changes = changesBetween(last, now)
    last = now
    return { step, public: changes, private: [] }
  })
  return {
    source: 'observed',
    why: 'The server of another system kept the state: these are changes of what the player observed.',
    partsAt: null,
    start: { public: start, private: null },
    steps,
  }
}

export function unavailable(why: string): EpisodeStates {
  return { source: 'unavailable', why, partsAt: null, start: null, steps: [] }
}

function partsOf(state: SessionState): Parts {
  const own = state.own as Json | undefined
  const secret = state.private as Json
  return {
    public: state.public as Json,
    private: own === undefined ? secret : { ...(secret as { readonly [key: string]: Json }), own },
  }
}
