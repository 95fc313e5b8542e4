import { existsSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { readLines } from '@episodic/dataset/jsonl'
import type { JsonObject, SealedRecord } from '@episodic/protocol'
import type { Anchors } from '@episodic/report/anchors/anchor-schema'
import { createFold } from '@episodic/report/fold/fold'
import { createMatchFold } from '@episodic/report/fold/match-fold'
import type { StepParts, Summary } from '@episodic/report/fold/summary'
import { type Console, colorsOf, shownPath, usesColor } from '../../base/console.ts'
import { HarnessError } from '../../base/harness-error.ts'
import { readAnchors } from '../anchors/anchors-file.ts'
import { gradesFileOf, readGrades } from '../grades-file.ts'
import { tailHash } from '../index-lines.ts'
import { commandsFor } from '../resume-commands.ts'
import { formatSummary } from '../text/format-summary.ts'
import { RUN_FILES, type RunManifest, runIdOf, SET_FILE } from './run-folder.ts'
import { readSealed } from './sealed-file.ts'
import { StepTimes } from './step-times.ts'
import { readStop } from './stop-file.ts'

export type RunFold = Awaited<ReturnType<typeof foldRun>>

export type RunPage = Awaited<ReturnType<RunFold['page']>>

type FoldedRun = Pick<RunManifest, 'name' | 'configuration' | 'played'> & { readonly scheduled?: number | undefined }

/** Creates an empty fold of a run's lines: of the seat in focus, if there are several. */
export function createRunFold(run: FoldedRun) {
  const { guarantees, transport } = run.played
  const { discount, seats, focus = '' } = run.configuration
  const fold = seats ? createMatchFold({ seats: Object.keys(seats), focus, discount }) : createFold({ discount })
  return {
    /** @param text - the JSON of the record. Default: it is written. */
    add: (record: SealedRecord, text?: string) => fold.add(record, text),
    summarize(stepParts?: StepParts | null, anchors?: Anchors | null): Summary {
      const summary = fold.finish({ name: run.name, scheduled: run.scheduled, guarantees, transport, stepParts })
      return anchors ? { ...summary, success: { ...summary.success, anchors } } : summary
    },
  }
}

export interface FoldRunOptions {
  readonly onSealed?: (record: SealedRecord) => void
  /** Called with the number of a torn last line, which is skipped. */
  readonly onTorn?: (line: number) => void
  readonly signal?: AbortSignal | undefined
  /** Tasks whose episodes are left out. */
  readonly without?: ReadonlySet<string>
}

export function tornNotice(line: number): string {
  return `Line ${line} of ${RUN_FILES.episodes} is torn, as after a crash, and is skipped.`
}

/** Folds the sealed episodes of a run's folder. Episodes that are sealed later can be added. */
export async function foldRun(folder: string, manifest: RunManifest, { without, ...options }: FoldRunOptions = {}) {
  const { seats, focus = '' } = manifest.configuration
  const fold = createRunFold(without ? { ...manifest, scheduled: undefined } : manifest)
  const file = join(folder, RUN_FILES.episodes)
  const times = new StepTimes()
  // Both are of all tasks.
  if (!without) await times.read(folder)
  const anchors = without ? null : await readAnchors(folder)
  let elapsed = 0
  const run = {
    add(record: SealedRecord, text?: string): void {
      fold.add(record, text)
      elapsed = Math.max(elapsed, record.time.ended)
    },
    get elapsed() {
      return elapsed
    },
    summarize: () => fold.summarize(times.parts, anchors),
    times,
    /** What its page shows, with the verdicts that are beside the run. The lines are read from its folder. */
    async page() {
      const { name, scheduled, configuration, versions, played, createdAt } = manifest
      const summary = run.summarize()
      const { unresolved: missing, failed } = summary.counts
      const stopped = (await readStop(folder)) ?? undefined
      const place = { folder, setFolder: setFolderOf(folder), manifest }
      return {
        summary,
        run: { name, scheduled, configuration: { ...configuration, ...played, ...versions } as unknown as JsonObject },
        content: {
          lines: () => readWholeLines(file),
          id: runIdOf(manifest),
          createdAt,
          commands: commandsFor(place, { missing, failed, raise: stopped?.raise }),
          stopped,
          seats: seats && [focus, ...Object.keys(seats).filter((seat) => seat !== focus)],
          grades: await readGrades(gradesFileOf(folder)),
        },
      }
    },
  }
  if (existsSync(file))
    for await (const record of readSealed(file, options)) {
      if (without?.has(record.task.id)) continue
      run.add(record)
      options.onSealed?.(record)
    }
  return run
}

function setFolderOf(folder: string): string | null {
  const above = resolve(folder, '../..')
  return existsSync(join(above, SET_FILE)) ? above : null
}

async function* readWholeLines(file: string): AsyncGenerator<string> {
  if (existsSync(file)) for await (const { text } of readLines(file)) yield text
}

/** Resolves with what a summary in a folder is of: the sealed lines, by their bytes, their end and their time. */
export async function markSummary(folder: string): Promise<string> {
  try {
    await using file = await open(join(folder, RUN_FILES.episodes))
    const { size, mtimeMs } = await file.stat()
    return `${RUN_FILES.summary} ${size} ${mtimeMs} ${await tailHash(file, size)}`
  } catch {
    return RUN_FILES.summary
  }
}

export function showSummary(
  folder: string,
  summary: Summary,
  { json = false }: { readonly json?: boolean | undefined },
  { out }: Console,
): void {
  if (json) out.write(`${JSON.stringify(summary)}\n`)
  else {
    const report = colorsOf(out).bold(shownPath(join(folder, RUN_FILES.report)))
    out.write(`\n${formatSummary(summary, { color: usesColor(out) })}\n  report  ${report}\n`)
  }
}

const MAX_NAMED = 3

/** Rejects with `run-invalid`, naming the first conflicting lines. Reads the whole file to find their numbers. */
export async function rejectConflicts(folder: string): Promise<never> {
  const { readRecorded } = await import('../read-recorded.ts')
  const file = join(folder, RUN_FILES.episodes)
  const first = new Map<string, { readonly line: number; readonly digest: number }>()
  const conflicts: string[] = []
  for await (const { record, line, digest } of readRecorded(file)) {
    const again = record.try === 0 ? '' : `, try ${record.try}`
    const name = `task ${record.task.id}, attempt ${record.attempt}${again}`
    const earlier = first.get(name)
    if (!earlier) first.set(name, { line, digest })
    else if (earlier.digest !== digest) conflicts.push(`${name}: lines ${earlier.line} and ${line}`)
  }
  const more = conflicts.length > MAX_NAMED ? [`and ${conflicts.length - MAX_NAMED} more`] : []
  throw new HarnessError('run-invalid', [
    `${shownPath(file)} has several different lines for the same episode, and a report cannot choose between them:`,
    ...[...conflicts.slice(0, MAX_NAMED), ...more].map((line) => `  ${line}`),
    `Replay the run to find out which line was edited. With --allow-conflicts, a finished line wins over a failed one, and otherwise the line with the lower SHA-256.`,
  ])
}
