import { createHash } from 'node:crypto'
import { type FileHandle, mkdtemp, open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Task } from '@episodic/protocol'
import { parseTask } from './check-task.ts'
import { DatasetError } from './dataset-error.ts'
import type { Rows } from './rows.ts'

export interface WriteTasksOptions {
  readonly signal?: AbortSignal | undefined
}

export interface WrittenTasks {
  readonly count: number
  /** Of the file's bytes, in hexadecimal. The same rows have the same hash. */
  readonly sha256: string
}

/** Characters to buffer between writes: a write for each small row would be slow. */
const BLOCK = 65_536

/**
 * Writes tasks as JSONL, in constant memory and all or nothing: to a temporary folder beside `path`, flushed to disk,
 * then renamed into place. If a row, the disk or the caller stops it, an existing file at `path` is unchanged. A killed
 * process leaves its temporary folder, `.tasks-*`, behind.
 *
 * @throws DatasetError `task-invalid` for a row that `readTasks` would reject, `file-failed`. After an abort: the
 * signal's reason. Errors of `rows` are passed on.
 */
export async function writeTasks(
  path: string,
  rows: Rows<Task>,
  { signal }: WriteTasksOptions = {},
): Promise<WrittenTasks> {
  const folder = dirname(path)
  const temporary = await written(path, mkdtemp(join(folder, '.tasks-')))
  try {
    const draft = join(temporary, 'tasks.jsonl')
    const result = await writeDraft(path, draft, rows, signal)
    signal?.throwIfAborted()
    await written(path, rename(draft, path))
    await written(path, flushFolder(folder))
    return result
  } finally {
    await rm(temporary, { recursive: true, force: true })
  }
}

async function writeDraft(
  path: string,
  draft: string,
  rows: Rows<Task>,
  signal: AbortSignal | undefined,
): Promise<WrittenTasks> {
  await using file: FileHandle = await written(path, open(draft, 'wx'))
  const hash = createHash('sha256')
  let count = 0
  let block = ''
  const flush = async (): Promise<void> => {
    hash.update(block)
    await written(path, file.appendFile(block))
    block = ''
  }
  for await (const row of rows) {
    signal?.throwIfAborted()
    count += 1
    block += `${JSON.stringify(parseTask(row, `Row ${count} for ${path}`))}\n`
    if (block.length >= BLOCK) await flush()
  }
  await flush()
  await written(path, file.sync())
  return { count, sha256: hash.digest('hex') }
}

/** Makes the rename survive a power cut. Windows cannot open a folder, and does not need this. */
async function flushFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return
  await using handle = await open(folder, 'r')
  await handle.sync()
}

async function written<Result>(path: string, operation: Promise<Result>): Promise<Result> {
  try {
    return await operation
  } catch (cause) {
    throw new DatasetError('file-failed', `Cannot write ${path}: ${(cause as Error).message}.`, { cause })
  }
}
