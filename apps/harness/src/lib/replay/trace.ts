import type { EnvironmentDefinition } from '@episodic/mcp-server'
import type { EpisodeRecord } from '@episodic/protocol'
import { replaySteps } from './replay-episode.ts'
import type { Scoring } from './scoring.ts'

/** Replays a recorded episode strictly, and yields readable lines: each action, its recorded result, and the first difference. */
export function* traceEpisode(
  environment: EnvironmentDefinition,
  record: EpisodeRecord,
  scoring: Scoring | null,
): Generator<string, void, undefined> {
  const { task, attempt, policy, start, steps, outcome } = record
  const { name, version } = record.environment
  yield `${name} ${version}  task ${task.id}  attempt ${attempt}  policy ${policy.name}`
  if (!start) {
    yield 'It never started.'
    return
  }
  for (const { step, parting } of replaySteps(environment, record, { strict: true, scoring, mayLeave: true })) {
    const recorded = step === null ? undefined : steps[step - 1]
    if (step === 0) {
      yield `start  ${potentialOf(start.potential)}`
      yield indent(start.observation.text)
    }
    if (recorded) {
      for (const { type, data, said } of recorded.events ?? []) {
        yield `*  ${type} ${JSON.stringify(data)}`
        if (said !== null) yield indent(said)
      }
      yield `${step}  ${recorded.action.tool} ${JSON.stringify(recorded.action.arguments)}`
      if (recorded.prepared !== undefined) yield indent(`prepared ${JSON.stringify(recorded.prepared)}`)
      yield indent(recorded.observation.text)
      const terms = Object.entries(recorded.reward.terms).map(([term, value]) => `${term} ${value}`)
      const refused = recorded.refused === null ? [] : [`refused by ${recorded.refused}`]
      const hash = `state ${recorded.stateHash?.slice(0, 8) ?? 'unknown'}`
      yield indent([...terms, potentialOf(recorded.potential), ...refused, hash].filter(Boolean).join('  '))
    }
    if (parting) {
      yield `≠  ${parting.field}`
      yield indent(`recorded  ${JSON.stringify(parting.recorded)}\nreplayed  ${JSON.stringify(parting.replayed)}`)
      return
    }
  }
  yield outcome.kind === 'finished'
    ? `end  ${outcome.end.kind}: ${outcome.end.reason}`
    : `failed  ${outcome.error.code}: ${outcome.error.message}`
}

function potentialOf(potential: number | null): string {
  return potential === null ? '' : `Φ ${potential}`
}

function indent(text: string): string {
  return text.replaceAll(/^/gm, '     ')
}
