import { hash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readLines } from '@episodic/dataset/jsonl'
import { chainOf, type EpisodeRecord, episodeRecordSchema } from '@episodic/protocol'
import { HarnessError } from '../harness-error.ts'

/** A sealed episode as it was read. */
export interface RecordedEpisode {
  readonly record: EpisodeRecord
  /** The chain fits the line: it is as it was sealed. */
  readonly whole: boolean
}

/** A sealed episode with where it stands in its file. */
export interface RecordedLine extends RecordedEpisode {
  /** From 1. */
  readonly line: number
  /** The first 48 bits of the SHA-256 of the line. */
  readonly digest: number
}

/**
 * Reads sealed episodes to be replayed, one at a time; none where there is no file, for then nothing is sealed yet. A
 * torn last line is told to `onTorn` and passed over.
 *
 * Steps are looked at with their schema only where the chain does not vouch for them: it takes as long as to play them.
 * Throws `run-invalid` for any other line that is no episode, with its number and field.
 */
export async function* readRecorded(
  path: string,
  options: { readonly onTorn?: (line: number) => void } = {},
): AsyncGenerator<RecordedLine, void, undefined> {
  if (!existsSync(path)) return
  for await (const { line, text, torn } of readLines(path)) {
    const read = parse(text)
    if ('record' in read) yield { ...read, line, digest: hash('sha256', text, 'buffer').readUIntBE(0, 6) }
    else if (torn) options.onTorn?.(line)
    else throw new HarnessError('run-invalid', `${path}, line ${line} is not a sealed episode: ${read.why}`)
  }
}

function parse(text: string): RecordedEpisode | { readonly why: string } {
  try {
    const json: EpisodeRecord = JSON.parse(text)
    const allButSteps = episodeRecordSchema.safeParse({ ...json, steps: [] })
    if (allButSteps.success && hasItsChain(json)) return { record: json, whole: true }
    const parsed = episodeRecordSchema.safeParse(json)
    if (parsed.success) return { record: parsed.data, whole: false }
    const [issue] = parsed.error.issues
    return { why: `${issue?.path.join('.')}: ${issue?.message}` }
  } catch (cause) {
    return { why: (cause as Error).message }
  }
}

function hasItsChain(record: EpisodeRecord): boolean {
  try {
    return chainOf(record) === record.chain
  } catch {
    // What is no list of steps has no chain.
    return false
  }
}
