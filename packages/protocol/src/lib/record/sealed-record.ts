import type { z } from 'zod'
import { canonicalJson } from '../base/canonical-json.ts'
import { contentId } from '../base/digest.ts'
import { isObject, type Json } from '../base/json.ts'
import type { Reward } from '../wire/step.ts'
import { type EpisodeRecord, episodeRecordSchema, type RecordedStep } from './episode-record.ts'
import { type MatchRecord, matchRecordSchema, type RecordedSeatStep } from './match-record.ts'

/** A line of a run: an episode of one seat, or a match of several. */
export type SealedRecord = EpisodeRecord | MatchRecord

export function isMatchRecord(record: SealedRecord): record is MatchRecord {
  return 'seats' in record
}

/**
 * Parses a line of a run, and brings one of format 2 to this format. Such a line was never played again, and has no
 * seal.
 */
export function parseSealedRecord(json: unknown): z.ZodSafeParseResult<SealedRecord> {
  const line = isObject(json) && json.format === 2 ? { ...json, format: 3, try: 0, seal: null } : json
  return isObject(line) && 'seats' in line ? matchRecordSchema.safeParse(line) : episodeRecordSchema.safeParse(line)
}

/**
 * Returns the {@link contentId} of a line's chain and of all that the chain leaves out: the run, the task, weights,
 * times, policies, returns and answers of models. Together they cover the whole line.
 */
export function sealOf(line: Omit<EpisodeRecord, 'seal'> | Omit<MatchRecord, 'seal'>): string {
  // What the chain covers is long, and hashed already.
  const { environment: _, params: __, seed: ___, steps, ...rest } = line as SealedRecord
  const { seal: ____, ...unchained } = 'start' in rest ? { ...rest, start: null } : rest
  return contentId(canonicalJson({ ...unchained, steps: steps.map(unchainedPart) } as unknown as Json))
}

/** The part of a step that does not come from the environment. */
function unchainedPart(step: RecordedStep | RecordedSeatStep) {
  const { milliseconds, completions = null } = step
  const scores = 'reward' in step ? scoreOf(step.reward) : Object.values(step.rewards).map(scoreOf)
  return { completions, milliseconds, scores }
}

function scoreOf({ total, shaping }: Reward) {
  return [total, shaping]
}
