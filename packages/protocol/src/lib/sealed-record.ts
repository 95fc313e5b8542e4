import type { z } from 'zod'
import { canonicalJson } from './canonical-json.ts'
import { contentId } from './digest.ts'
import { type EpisodeRecord, episodeRecordSchema } from './episode-record.ts'
import { isObject, type Json } from './json.ts'
import { type MatchRecord, matchRecordSchema } from './match-record.ts'

/** A line of a run: an episode of one seat, or a match of several. */
export type SealedRecord = EpisodeRecord | MatchRecord

/** Whether a line is of several seats. */
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
 * Returns the {@link contentId} of a whole line without its seal. The chain covers what a replay must reproduce; the seal
 * also what the player adds: times, weights, policies, answers of models.
 */
export function sealOf(line: Omit<SealedRecord, 'seal'>): string {
  const { seal: _, ...sealed } = line as SealedRecord
  return contentId(canonicalJson(sealed as unknown as Json))
}
