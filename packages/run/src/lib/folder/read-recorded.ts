import { hash } from 'node:crypto'
import { existsSync, statSync } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { readLines } from '@episodic/dataset/jsonl'
import { chainOf, parseSealedRecord, type SealedRecord, sealOf } from '@episodic/protocol'
import { HarnessError } from '../base/harness-error.ts'
import { assertFiles, isComplete, RUN_FILES, type RunManifest, readManifest } from './record/run-folder.ts'
import { parseLine } from './record/sealed-file.ts'

export interface RecordedEpisode {
  readonly record: SealedRecord
  /** Its chain and its seal match: the line is unchanged since it was sealed. */
  readonly whole: boolean
}

export interface RecordedLine extends RecordedEpisode {
  /** From 1. */
  readonly line: number
  /** The first 48 bits of the SHA-256 of the line. */
  readonly digest: number
  /** Its place in the file, in bytes, without its line break. */
  readonly start: number
  readonly bytes: number
}

/**
 * Streams sealed episodes for a replay; none if there is no file, because nothing is sealed yet. A torn last line is
 * reported to `onTorn` and skipped.
 *
 * Steps are parsed with their schema only if the line was changed: parsing takes as long as playing them.
 * Throws `run-invalid` for any other line that is not an episode, with its number and field.
 */
export async function* readRecorded(
  path: string,
  options: { readonly onTorn?: (line: number) => void } = {},
): AsyncGenerator<RecordedLine, void, undefined> {
  if (!existsSync(path)) return
  let start = 0
  for await (const { line, text, torn } of readLines(path)) {
    const read = parse(text)
    const bytes = Buffer.byteLength(text)
    if ('record' in read) yield { ...read, line, digest: hash('sha256', text, 'buffer').readUIntBE(0, 6), start, bytes }
    else if (torn) options.onTorn?.(line)
    else throw new HarnessError('run-invalid', `${path}, line ${line} is not a sealed episode: ${read.why}`)
    start += bytes + 1
  }
}

/** Reads one line again, by its place. Rejects with `run-invalid` if it is not the same line any more. */
export async function readLineAt(
  file: FileHandle,
  { start, bytes, digest }: Pick<RecordedLine, 'start' | 'bytes' | 'digest'>,
): Promise<SealedRecord> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes), 0, bytes, start)
  const text = buffer.toString('utf8', 0, bytesRead)
  const read = hash('sha256', text, 'buffer').readUIntBE(0, 6) === digest ? parse(text) : null
  if (read && 'record' in read) return read.record
  throw new HarnessError('run-invalid', 'The file of the sealed episodes changed while it was read. Try again.')
}

function parse(text: string): RecordedEpisode | { readonly why: string } {
  try {
    const json: SealedRecord = JSON.parse(text)
    const allButSteps = parseSealedRecord({ ...json, steps: [] })
    if (allButSteps.success && isUnchanged(json))
      return { record: { ...allButSteps.data, steps: json.steps } as SealedRecord, whole: true }
  } catch {
    // It is no JSON, which is said below.
  }
  return { ...parseLine(text), whole: false }
}

/** Whether the chain of a line and its seal, if it has one, are those of what it holds. */
export function isUnchanged(record: SealedRecord): boolean {
  try {
    return chainOf(record) === record.chain && (!record.seal || sealOf(record) === record.seal)
  } catch {
    return false // Steps that are not a list have no chain.
  }
}

export interface SealedEpisodes {
  readonly file: string
  readonly name: string
  readonly folder: string
  /** `null` for a file of lines. */
  readonly manifest: RunManifest | null
  /** Whether its summary says that every scheduled episode was sealed. */
  readonly complete: boolean
}

export async function findSealed(run: string): Promise<SealedEpisodes> {
  if (!existsSync(run)) throw new HarnessError('run-invalid', `There is no run at ${run}.`)
  if (statSync(run).isDirectory()) {
    const manifest = await readManifest(run)
    const { name } = manifest.configuration.environment
    return { file: join(run, RUN_FILES.episodes), name, folder: run, manifest, complete: await isComplete(run) }
  }
  await assertFiles(dirname(run), [basename(run)])
  for await (const { record } of readRecorded(run))
    return { file: run, name: record.environment.name, folder: dirname(run), manifest: null, complete: false }
  throw new HarnessError('run-invalid', `${run} holds no episode.`)
}
