import type { SealedRecord } from '@episodic/protocol'
import { isObject } from '@episodic/protocol/internal'

/**
 * Returns parsed JSON as a sealed line if it has the fields that rows are made of, and `null` otherwise. Lines of
 * format 2 are brought to this format. It is several times as fast as `parseSealedRecord`, and does not look into
 * texts.
 */
export function sealedShape(json: unknown): SealedRecord | null {
  if (!isObject(json)) return null
  const line = json.format === 2 ? { ...json, format: 3, try: 0, seal: null } : json
  const { format, task, attempt, environment, time, steps, outcome } = line
  const holds =
    format === 3 &&
    isObject(task) &&
    typeof task.id === 'string' &&
    typeof task.prompt === 'string' &&
    typeof task.difficulty === 'number' &&
    Array.isArray(task.tags) &&
    task.tags.every((tag) => typeof tag === 'string') &&
    isCount(attempt) &&
    isCount(line.try) &&
    isObject(environment) &&
    isObject(time) &&
    typeof time.started === 'number' &&
    typeof time.ended === 'number' &&
    Array.isArray(steps) &&
    isObject(outcome) &&
    (isObject(line.seats)
      ? Object.values(line.seats).every(isSeat) && Array.isArray(line.turn) && steps.every(isSeatStep)
      : isPlayer(line.policy) &&
        steps.every((step) => isStep(step) && isReward(step.reward)) &&
        isReturns(line.returns)) &&
    isOutcome(outcome, isObject(line.seats)) &&
    isCompletions(line.undecided) &&
    (!isObject(line.transcript) || isAmount(line.transcript.cut))
  return holds ? (line as unknown as SealedRecord) : null
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

function isPlayer(value: unknown): boolean {
  return isObject(value) && typeof value.name === 'string' && isWord(value.version)
}

function isReturns(value: unknown): boolean {
  return value === null || (isObject(value) && [value.total, value.unshaped, value.discounted].every(Number.isFinite))
}

function isSeat(value: unknown): boolean {
  return (
    isObject(value) &&
    isPlayer(value.policy) &&
    isReturns(value.returns) &&
    (value.start === null || (isObject(value.start) && isObject(value.start.observation))) &&
    (value.end === null || (isObject(value.end) && isEnd(value.end)))
  )
}

function isStep(value: unknown): value is Record<string, unknown> {
  return (
    isObject(value) &&
    isObject(value.action) &&
    isObject(value.observation) &&
    (value.refused === null || typeof value.refused === 'string') &&
    (value.milliseconds === null || typeof value.milliseconds === 'number') &&
    isCompletions(value.completions)
  )
}

function isSeatStep(value: unknown): boolean {
  return (
    isStep(value) &&
    typeof value.seat === 'string' &&
    isObject(value.seats) &&
    isObject(value.rewards) &&
    Object.values(value.rewards).every(isReward)
  )
}

function isReward(value: unknown): boolean {
  if (!isObject(value) || typeof value.total !== 'number' || !isObject(value.terms)) return false
  for (const name in value.terms) if (typeof value.terms[name] !== 'number') return false
  return true
}

function isCompletions(value: unknown): boolean {
  return value === undefined || (Array.isArray(value) && value.every(isCompletion))
}

function isCompletion(value: unknown): boolean {
  if (!isObject(value)) return false
  const { time = {}, tries = [] } = value
  return (
    typeof value.promptTokens === 'number' &&
    typeof value.completionTokens === 'number' &&
    (value.cost === null || typeof value.cost === 'number') &&
    isWord(value.policyVersion) &&
    isAmount(value.cachedTokens) &&
    isAmount(value.cut) &&
    isObject(time) &&
    isAmount(time.milliseconds) &&
    isAmount(time.waited) &&
    Array.isArray(tries) &&
    tries.every((failed) => isObject(failed) && isAmount(failed.milliseconds))
  )
}

function isWord(value: unknown): boolean {
  return value === undefined || typeof value === 'string'
}

function isAmount(value: unknown): boolean {
  return value === undefined || typeof value === 'number'
}

function isOutcome(outcome: Record<string, unknown>, ofSeats: boolean): boolean {
  if (outcome.kind === 'failed')
    return (
      isObject(outcome.error) && typeof outcome.error.code === 'string' && typeof outcome.error.message === 'string'
    )
  return outcome.kind === 'finished' && (ofSeats || (isObject(outcome.end) && isEnd(outcome.end)))
}

function isEnd({ kind, reason }: Record<string, unknown>): boolean {
  return (kind === 'terminated' || kind === 'truncated') && typeof reason === 'string'
}
