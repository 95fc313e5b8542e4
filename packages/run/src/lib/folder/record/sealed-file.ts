import { ftruncateSync, writeSync } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { readLines } from '@episodic/dataset/jsonl'
import { parseSealedRecord, type SealedRecord } from '@episodic/protocol'
import { HarnessError } from '../../base/harness-error.ts'
import { cannotWrite, openToAppend } from '../../base/own-files.ts'

/**
 * The file of a run's sealed episodes, one line each, appended as they end.
 *
 * Lines appended in one turn of the event loop become one write. A partial write is truncated to the last whole line,
 * so that the file can always be read and continued.
 */
export class SealedFile implements AsyncDisposable {
  readonly #file: FileHandle
  readonly #path: string
  /** Bytes of whole lines. */
  #end: number
  #waiting: { readonly line: string; readonly done: PromiseWithResolvers<void> }[] = []
  #writing: Promise<void> | null = null
  #failure: HarnessError | null = null
  readonly #beforeWrite: () => void

  private constructor(file: FileHandle, path: string, end: number, beforeWrite: () => void) {
    this.#beforeWrite = beforeWrite
    this.#file = file
    this.#path = path
    this.#end = end
  }

  /**
   * Opens a file for appending after its last episode. A torn last line is removed, unless it lacks only its line
   * break: {@link readSealed} has counted it, so the line break is added.
   *
   * @param beforeWrite - called before each write; if it throws, nothing is written.
   */
  static async open(path: string, beforeWrite: () => void = () => {}): Promise<SealedFile> {
    const file = await openToAppend(path).catch((cause) => Promise.reject(cannotWrite(path, cause)))
    const end = await endOfLines(file)
    const sealed = new SealedFile(file, path, end, beforeWrite)
    const tail = await readFrom(file, end)
    await file.truncate(end)
    if ('record' in parseLine(tail)) sealed.#write(Buffer.from(`${tail}\n`))
    return sealed
  }

  /**
   * Appends an episode. Resolves when it is written. Rejects with `disk-failed`, and then for every later episode too.
   *
   * @param text - its JSON. Default: it is written.
   */
  append(record: SealedRecord, text = JSON.stringify(record)): Promise<void> {
    if (this.#failure) return Promise.reject(this.#failure)
    const done = Promise.withResolvers<void>()
    this.#waiting.push({ line: `${text}\n`, done })
    this.#writing ??= new Promise<void>((resolve) => setImmediate(() => resolve(this.#writeAll())))
    return done.promise
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#writing
    await this.#file.close()
  }

  #writeAll(): void {
    const batch = this.#waiting
    this.#waiting = []
    this.#writing = null
    try {
      if (this.#failure) throw this.#failure
      this.#beforeWrite()
      this.#write(Buffer.from(batch.map(({ line }) => line).join('')))
      for (const { done } of batch) done.resolve()
    } catch (error) {
      for (const { done } of batch) done.reject(error)
    }
  }

  /**
   * Writes to the system's cache of the disk, which takes less time than to give the write to a thread and to wait for
   * it.
   */
  #write(bytes: Buffer): void {
    try {
      for (let written = 0; written < bytes.length; )
        // A disk that fills up accepts part of a write without an error, and fails the next write.
        written += writeSync(this.#file.fd, bytes, written)
      this.#end += bytes.length
    } catch (cause) {
      this.#cutTornLine()
      this.#failure = new HarnessError(
        'disk-failed',
        `Cannot write ${this.#path}: ${(cause as Error).message}. Sealed episodes are kept. Free some space, then resume the run.`,
        { cause },
      )
      throw this.#failure
    }
  }

  #cutTornLine(): void {
    try {
      ftruncateSync(this.#file.fd, this.#end)
    } catch {
      // The line is cut when the file is opened again.
    }
  }
}

/**
 * Streams sealed episodes. A torn last line is reported to `onTorn` and skipped.
 *
 * Throws `run-invalid` for any other line that is not an episode, with its number and field.
 */
export async function* readSealed(
  path: string,
  options: { readonly signal?: AbortSignal | undefined; readonly onTorn?: (line: number) => void } = {},
): AsyncGenerator<SealedRecord> {
  for await (const { line, text, torn } of readLines(path, { signal: options.signal })) {
    const read = parseLine(text)
    if ('record' in read) yield read.record
    else if (torn) options.onTorn?.(line)
    else throw new HarnessError('run-invalid', `${path}, line ${line} is not a sealed episode: ${read.why}`)
  }
}

export function parseLine(text: string): { readonly record: SealedRecord } | { readonly why: string } {
  try {
    const { data: record, error } = parseSealedRecord(JSON.parse(text))
    if (record) return { record }
    const [issue] = error?.issues ?? []
    return { why: `${issue?.path.join('.')}: ${issue?.message}` }
  } catch (cause) {
    return { why: (cause as Error).message }
  }
}

async function readFrom(file: FileHandle, start: number): Promise<string> {
  const { size } = await file.stat()
  const { buffer, bytesRead } = await file.read(Buffer.alloc(size - start), 0, size - start, start)
  return buffer.toString('utf8', 0, bytesRead)
}

async function endOfLines(file: FileHandle): Promise<number> {
  const block = Buffer.alloc(65_536)
  let { size: from } = await file.stat()
  while (from > 0) {
    const start = Math.max(0, from - block.length)
    const { bytesRead } = await file.read(block, 0, from - start, start)
    const newline = block.subarray(0, bytesRead).lastIndexOf(10)
    if (newline >= 0) return start + newline + 1
    from = start
  }
  return 0
}
