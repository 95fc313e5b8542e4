import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { readLines } from '@episodic/dataset/jsonl'
import { parseSealedRecord, type SealedRecord, type Task, taskSchema } from '@episodic/protocol'
import { HarnessError } from '@episodic/run/base/harness-error'
import { jsonOf } from '@episodic/run/base/json'
import { writeWhole } from '@episodic/run/base/own-files'
import { isUnchanged } from '@episodic/run/folder/read-recorded'
import { assertFiles, RUN_FILES } from '@episodic/run/folder/record/run-folder'

export interface OriginLine {
  readonly record: SealedRecord
  /** What was played; `null` for a line that only another one goes on from. */
  readonly task: Task | null
}

/** Writes the lines that a run goes on from into its folder, so that it stands without the earlier run. */
export async function writeOrigins(folder: string, lines: Iterable<OriginLine>): Promise<void> {
  const texts = Array.from(lines, ({ record, task }) => `${JSON.stringify({ task, record })}\n`)
  await writeWhole(join(folder, RUN_FILES.origins), texts.join(''))
}

/**
 * Reads the lines that a run goes on from, by their seals; none for a run that starts its episodes anew. Rejects with
 * `run-invalid` for a line that was changed since it was sealed.
 */
export async function readOrigins(folder: string): Promise<Map<string, OriginLine>> {
  const origins = new Map<string, OriginLine>()
  const file = join(folder, RUN_FILES.origins)
  if (!existsSync(file)) return origins
  await assertFiles(folder, [RUN_FILES.origins])
  for await (const { line, text } of readLines(file)) {
    const { task = null, record: given } = (jsonOf(text) ?? {}) as { task?: unknown; record?: unknown }
    const { data: record } = parseSealedRecord(given)
    const played = taskSchema.nullable().safeParse(task)
    if (!record?.seal || !isUnchanged(record) || !played.success)
      throw new HarnessError(
        'run-invalid',
        `${file}, line ${line} was changed since it was sealed, so nothing can go on from it. Restore the file from a copy, or continue the episode again.`,
      )
    origins.set(record.seal, { record, task: played.data })
  }
  return origins
}

export function recordsOf(origins: ReadonlyMap<string, OriginLine>): ReadonlyMap<string, SealedRecord> {
  return new Map(Array.from(origins, ([seal, { record }]) => [seal, record]))
}

/** Returns the lines that an episode goes on from, as far as they are known, the nearest first. */
export function ancestorsOf({ origin }: SealedRecord, origins: ReadonlyMap<string, OriginLine>): OriginLine[] {
  const line = origin && origins.get(origin.seal)
  return line ? [line, ...ancestorsOf(line.record, origins)] : []
}
