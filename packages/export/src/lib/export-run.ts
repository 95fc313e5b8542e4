import type { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { EpisodeRecord, SealedRecord, Split } from '@episodic/protocol'
import { isSuccess, scoredOutcomeOf } from '@episodic/report/fold/scored-outcome'
import { canariesIn, HELD_OUT } from '@episodic/report/held-out/held-out'
import { seatRecordsOf } from '@episodic/report/seats/seat-record'
import { shownPath } from '@episodic/run/base/console'
import { HarnessError, invalidOption } from '@episodic/run/base/harness-error'
import { writeWhole } from '@episodic/run/base/own-files'
import { readRecorded, type SealedEpisodes } from '@episodic/run/folder/read-recorded'
import type { CreditOptions } from './credit/credit-options.ts'
import { readGroupCredit } from './credit/group-credit.ts'
import { EXPORT_REWARDS, type ExportReward } from './episode/rewards.ts'
import { stalenessColumns } from './episode/staleness-columns.ts'
import { withoutAbsence } from './episode/without-absence.ts'
import type { ExportFormat, ExportSource } from './export-format.ts'

export interface Selection {
  readonly split?: Split | undefined
  /** Only these lines, by their numbers from 1. Default: all. */
  readonly lines?: ReadonlySet<number> | undefined
  /** Whether tasks that are held out may be among them. Default false. */
  readonly heldOut?: boolean | undefined
  /** Only episodes that succeeded. Default false. */
  readonly successful?: boolean | undefined
  /** Of several seats, only this one. Default: all, each with an episode of its own. */
  readonly seat?: string | undefined
}

export interface ExportOptions extends Selection, Pick<ExportSource, 'tools' | 'policyVersion' | 'verdicts'> {
  readonly format: ExportFormat
  /** Default: the return without shaping. */
  readonly reward?: ExportReward | undefined
  /** Whether each answer is credited from the states that the rollouts of its task share. Default: not. */
  readonly advantages?: CreditOptions | null | undefined
  /** The stream or the path of the file to write. */
  readonly to: Writable | string
  /** Returns an episode as others may see it. Throws for one that they may not see. Default: as it was sealed. */
  readonly share?: ((record: EpisodeRecord) => EpisodeRecord) | undefined
  /** Called with the number of a torn last line, which is skipped. */
  readonly onTorn?: (line: number) => void
  readonly signal?: AbortSignal | undefined
}

export type Exported = Awaited<ReturnType<typeof exportRun>>

/**
 * Exports the sealed episodes of a run in a format of others, in a stream: memory does not grow with the steps. A file
 * is written beside its path and renamed when it is complete.
 *
 * Rejects with `run-invalid` for lines that are no episodes and for different lines of one episode, with `disk-failed`,
 * and with the reason of `signal`.
 */
export async function exportRun(sealed: SealedEpisodes, options: ExportOptions) {
  const {
    format,
    tools,
    policyVersion,
    verdicts,
    reward = EXPORT_REWARDS.unshaped,
    to,
    signal,
    share = (record) => record,
  } = options
  const selected = new Set<string>()
  const failures = new Set<string>()
  const withoutStaleness = new Set<string>()
  const newer = new Set<string>()
  const [heldOut, canaries] = [new Set<string>(), new Set<string>()]

  async function* allEpisodes(): AsyncGenerator<EpisodeRecord> {
    const digests = new Map<string, number>()
    const finished = new Set<string>()
    // The last failed try of each episode, until one that finished takes its place.
    const failed = new Map<string, SealedRecord>()
    for await (const { record: line, line: number, digest } of readRecorded(sealed.file, options)) {
      const name = `${line.task.id} ${line.attempt}`
      const play = `${name} ${line.try}`
      const known = digests.get(play)
      if (known !== undefined && known !== digest) throw conflicting(sealed.file, line)
      if (known !== undefined) continue
      digests.set(play, digest)
      if (options.lines && !options.lines.has(number)) continue
      if (options.split && line.task.split !== options.split) continue
      if (line.outcome.kind === 'finished') {
        finished.add(name)
        failed.delete(name)
        yield* select(line)
      } else if (!finished.has(name) && (failed.get(name)?.try ?? -1) < line.try) failed.set(name, line)
    }
    for (const line of failed.values()) yield* select(line)
  }

  function* select(line: SealedRecord): Generator<EpisodeRecord> {
    for (const [seat, record] of seatRecordsOf(line, options.seat)) {
      if (options.successful && !isSuccess(record)) continue
      for (const canary of canariesIn(line.task.tags)) canaries.add(canary)
      if (line.task.tags.includes(HELD_OUT)) {
        if (!options.heldOut) throw heldOutFrom(sealed.name, canariesIn(line.task.tags))
        heldOut.add(`${line.task.id} ${line.attempt}`)
      }
      const name = `${line.task.id} ${line.attempt} ${seat}`
      selected.add(name)
      if (scoredOutcomeOf(record).kind === 'failed') failures.add(name)
      if (policyVersion !== undefined) {
        const { staleness } = stalenessColumns(record, policyVersion)
        if (staleness === undefined) withoutStaleness.add(name)
        else if (staleness < 0) newer.add(name)
      }
      yield share(withoutAbsence(record))
    }
  }

  async function* episodes(): AsyncGenerator<EpisodeRecord> {
    for await (const record of allEpisodes()) if (scoredOutcomeOf(record).kind === 'finished') yield record
  }

  const run = sealed.manifest && { name: sealed.manifest.name, createdAt: sealed.manifest.createdAt }
  const credit = options.advantages ? await readGroupCredit(sealed, reward, options.advantages) : undefined
  let lines = 0
  async function* pieces(): AsyncGenerator<string | Uint8Array> {
    const source = { run, tools, policyVersion, verdicts, reward, credit, episodes, allEpisodes }
    for await (const piece of format.write(source)) {
      if (typeof piece === 'string' && piece.endsWith('\n')) lines += 1
      yield piece
    }
  }
  if (typeof to === 'string') await writeWhole(to, pieces(), signal)
  else await pipeline(pieces(), to, { signal, end: false })
  return {
    episodes: selected.size,
    finished: selected.size - failures.size,
    failed: failures.size,
    /** Lines of the file; 0 for a binary one. */
    lines,
    ...(credit && { credit: credit.counts }),
    /** Episodes of tasks that are held out, and the canaries of their data sets. Left out if there are none. */
    ...(heldOut.size > 0 && { heldOut: heldOut.size }),
    ...(canaries.size > 0 && { canaries: [...canaries].sort() }),
    ...(policyVersion !== undefined && {
      /** Episodes without staleness, as no version is known or it cannot be subtracted. */
      withoutStaleness: withoutStaleness.size,
      /** Episodes of newer versions, whose staleness is below 0. */
      newer: newer.size,
    }),
  }
}

function heldOutFrom(name: string, canaries: readonly string[]): HarnessError {
  const known = canaries.length > 0 ? ` (${canaries.join(', ')})` : ''
  return invalidOption(
    `Some of the selected episodes of ${name} are of tasks that are held out from training${known}. A model that is trained on them cannot be judged by them. Export another --split, or give --held-out for an export that trains no model.`,
  )
}

function conflicting(file: string, { task, attempt }: SealedRecord): HarnessError {
  return new HarnessError(
    'run-invalid',
    `${shownPath(file)} has different lines for task ${task.id}, attempt ${attempt}, and an export cannot choose between them. Replay the run to find out which line was edited.`,
  )
}
