import { join } from 'node:path'
import { shownPath } from '../console.ts'
import { HarnessError } from '../harness-error.ts'
import { readRecorded } from '../replay/read-recorded.ts'
import { RUN_FILES } from './run-folder.ts'

/** How many conflicts the error names. */
const NAMED = 3

/**
 * Throws `run-invalid` for a run that has several lines of one episode which say different things, naming the first of them.
 * To be called where there are any: it reads the whole file for their numbers.
 */
export async function refuseConflicts(folder: string): Promise<never> {
  const file = join(folder, RUN_FILES.episodes)
  const first = new Map<string, { readonly line: number; readonly digest: number }>()
  const conflicts: string[] = []
  for await (const { record, line, digest } of readRecorded(file)) {
    const name = `task ${record.task.id}, attempt ${record.attempt}`
    const earlier = first.get(name)
    if (!earlier) first.set(name, { line, digest })
    else if (earlier.digest !== digest) conflicts.push(`${name}: lines ${earlier.line} and ${line}`)
  }
  const more = conflicts.length > NAMED ? [`and ${conflicts.length - NAMED} more`] : []
  throw new HarnessError(
    'run-invalid',
    `${shownPath(file)} has several different lines for the same episode, and a report cannot choose between them:\n${[...conflicts.slice(0, NAMED), ...more].map((line) => `  ${line}`).join('\n')}\nReplay the run to see what was tampered with. With --allow-conflicts a finished line counts before a failed one, and then the one with the lower SHA-256.`,
  )
}
