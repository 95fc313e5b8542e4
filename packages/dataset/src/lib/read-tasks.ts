import type { Task } from '@episodic/protocol'
import { parseTask } from './check-task.ts'
import { DatasetError } from './dataset-error.ts'
import { type JsonLine, NOT_JSON, parseJson } from './json-line.ts'
import { type ReadLinesOptions, readLines } from './read-lines.ts'

export interface ReadTasksOptions extends ReadLinesOptions {
  /** Called with a last line that was cut short. It is left out in any case. */
  readonly onTorn?: (line: JsonLine) => void
}

/**
 * Yields the tasks of a JSONL file, in constant memory. Skips blank lines. Each task is checked by itself: its shape,
 * and that its id is the hash of its content. `checkLines` also compares rows with each other.
 *
 * @throws DatasetError `task-invalid` naming the line, `file-failed`, `line-too-long`. After an abort: the signal's
 * reason.
 */
export async function* readTasks(
  path: string,
  { onTorn, ...options }: ReadTasksOptions = {},
): AsyncGenerator<Task, void, undefined> {
  for await (const line of readLines(path, options)) {
    if (line.text.trim() === '') continue
    const row = parseJson(line)
    if ('value' in row) yield parseTask(row.value, `${path}, line ${line.line}`)
    else if (line.torn && row.problem === NOT_JSON) onTorn?.(line)
    else throw new DatasetError('task-invalid', `${path}, line ${line.line} is not a task: ${row.problem}.`)
  }
}
