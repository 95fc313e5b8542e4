import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { checkLines } from './check-tasks.ts'
import { collect } from './collect.fixture.ts'
import { guessingTasks } from './guessing.fixture.ts'
import type { JsonLine } from './json-line.ts'
import { readLines } from './read-lines.ts'
import { readTasks } from './read-tasks.ts'
import { writeTasks } from './write-tasks.ts'

let folder: string
let path: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dataset-'))
  path = join(folder, 'tasks.jsonl')
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const tasks = guessingTasks(20)

describe('readLines', () => {
  it.each<[string, Buffer, RegExp]>([
    ['gzip', gzipSync('{}\n'), /is compressed with gzip/],
    ['Zstandard', Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 4, 0]), /is compressed with Zstandard/],
    ['ZIP', Buffer.from('PK\x03\x04'), /is a ZIP archive/],
    ['a pointer of Git LFS', Buffer.from('version https://git-lfs.github.com/spec/v1\n'), /is a pointer of Git LFS/],
    ['a page', Buffer.from('<!DOCTYPE html><html></html>'), /is a page of HTML/],
    ['UTF-16', Buffer.from('\ufeff{}\n', 'utf16le'), /is UTF-16/],
    ['UTF-16 without a mark', Buffer.from('{}\n{}\n', 'utf16le'), /is UTF-16/],
  ])('says that a file is %s', async (name, bytes, message) => {
    const file = join(folder, `${name}.jsonl`)
    await writeFile(file, bytes)
    await expect(collect(readLines(file))).rejects.toMatchObject({
      code: 'file-failed',
      message: expect.stringMatching(message),
    })
  })

  it('yields the lines that were written, whatever the block boundaries', async () => {
    const anyLine = fc.string({ unit: 'binary' }).filter((text) => !/[\n\ufeff]/.test(text))
    // Long enough that characters of three bytes straddle the borders of blocks.
    const longLine = fc.integer({ min: 20_000, max: 50_000 }).map((length) => '€'.repeat(length))
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof({ weight: 9, arbitrary: anyLine }, longLine)), async (texts) => {
        await writeFile(path, texts.map((text) => `${text}\n`).join(''))
        const lines = await collect(readLines(path))
        expect(lines).toEqual(texts.map((text, i) => ({ line: i + 1, text, torn: false })))
      }),
      { numRuns: 50 },
    )
  })

  it('marks a last line without a newline', async () => {
    await writeFile(path, 'a\n\nb')
    expect(await collect(readLines(path))).toEqual([
      { line: 1, text: 'a', torn: false },
      { line: 2, text: '', torn: false },
      { line: 3, text: 'b', torn: true },
    ])
  })

  it('drops a byte order mark', async () => {
    await writeFile(path, '\ufeffa\n')
    expect(await collect(readLines(path))).toEqual([{ line: 1, text: 'a', torn: false }])
  })

  it('reads nothing from an empty file', async () => {
    await writeFile(path, '')
    expect(await collect(readLines(path))).toEqual([])
  })

  it('rejects a line over the limit, and names it', async () => {
    await writeFile(path, `${'a'.repeat(10)}\n${'b'.repeat(11)}\n`)
    const lines = readLines(path, { maxLineBytes: 10 })
    expect((await lines.next()).value).toMatchObject({ line: 1 })
    await expect(lines.next()).rejects.toMatchObject({
      code: 'line-too-long',
      message: expect.stringContaining('line 2'),
    })
  })

  it('names a missing file', async () => {
    await expect(readLines(path).next()).rejects.toMatchObject({
      code: 'file-failed',
      message: expect.stringContaining(path),
      cause: expect.objectContaining({ code: 'ENOENT' }),
    })
  })

  it('stops with the reason of the signal', async () => {
    await writeFile(path, 'a\nb\n')
    const stop = new AbortController()
    const lines = readLines(path, { signal: stop.signal })
    await lines.next()
    const reason = new Error('enough')
    stop.abort(reason)
    await expect(lines.next()).rejects.toBe(reason)
    await expect(readLines(path, { signal: stop.signal }).next()).rejects.toBe(reason)
  })
})

describe('readTasks', () => {
  it('reads what writeTasks wrote', async () => {
    await writeTasks(path, tasks)
    expect(await collect(readTasks(path))).toEqual(tasks)
  })

  it('reads the complete rows of a file that was cut anywhere, and names the torn line', async () => {
    await writeTasks(path, tasks.slice(0, 3))
    const bytes = await readFile(path)
    const ends = [...bytes.entries()].filter(([, byte]) => byte === 0x0a).map(([position]) => position)
    await fc.assert(
      fc.asyncProperty(fc.nat(bytes.length), async (cut) => {
        await writeFile(path, bytes.subarray(0, cut))
        const torn: JsonLine[] = []
        const rows = await collect(readTasks(path, { onTorn: (line) => torn.push(line) }))
        // A row is whole from its last brace on, with its newline or without.
        const whole = ends.filter((end) => end <= cut).length
        expect(rows).toEqual(tasks.slice(0, whole))
        const cutInside = cut > 0 && !ends.includes(cut) && !ends.includes(cut - 1)
        expect(torn.map(({ line }) => line)).toEqual(cutInside ? [whole + 1] : [])
      }),
      { numRuns: 200 },
    )
  })

  it('says that a file is in another encoding, once, and not that its ids are wrong', async () => {
    const text = tasks.map((task) => `${JSON.stringify({ ...task, prompt: 'Café?' })}\n`).join('')
    await writeFile(path, text, 'latin1')
    await expect(collect(readTasks(path))).rejects.toMatchObject({
      code: 'task-invalid',
      message: expect.stringMatching(/line 1 is not a task: it has bytes that are not UTF-8.*iconv -f WINDOWS-1252/),
    })
    expect(await collect(checkLines(readLines(path)))).toMatchObject([{ line: 1, code: 'json' }])
    // A last line without a newline is whole if it is JSON.
    await writeFile(path, '{"metadata":"é"}', 'latin1')
    await expect(collect(readTasks(path))).rejects.toMatchObject({ message: expect.stringContaining('not UTF-8') })
  })

  it('takes the character for what cannot be read where it was written as such', async () => {
    await writeFile(path, '"\ufffd"\n')
    expect(await collect(readLines(path))).toEqual([{ line: 1, text: '"\ufffd"', torn: false }])
  })

  it('skips blank lines', async () => {
    await writeFile(path, `\n${JSON.stringify(tasks[0])}\r\n   \n`)
    expect(await collect(readTasks(path))).toEqual([tasks[0]])
  })

  it.each([
    ['is not JSON', '{"id": 3,'],
    ['is not a task', '{"id": 3}'],
    ['has another id than its content', JSON.stringify({ ...tasks[1], prompt: 'Edited.' })],
  ])('refuses a line that %s, and names it', async (_, text) => {
    await writeFile(path, `${JSON.stringify(tasks[0])}\n${text}\n`)
    const rows = readTasks(path)
    await rows.next()
    await expect(rows.next()).rejects.toMatchObject({
      code: 'task-invalid',
      message: expect.stringContaining('line 2 is not a task'),
    })
  })
})

describe('writeTasks', () => {
  it('writes one line for each row, and returns the count and the hash', async () => {
    const written = await writeTasks(path, tasks)
    const bytes = await readFile(path)
    expect(bytes.toString()).toBe(tasks.map((task) => `${JSON.stringify(task)}\n`).join(''))
    expect(written).toEqual({ count: 20, sha256: createHash('sha256').update(bytes).digest('hex') })
  })

  it('writes more than one block', async () => {
    async function* many() {
      yield* guessingTasks(400)
    }
    expect(await writeTasks(path, many())).toMatchObject({ count: 400 })
    expect(await collect(readTasks(path))).toHaveLength(400)
  })

  it('leaves the old file and nothing else when a row fails', async () => {
    await writeFile(path, 'old')
    const failure = new Error('no more rows')
    function* failing() {
      yield* tasks
      throw failure
    }
    await expect(writeTasks(path, failing())).rejects.toBe(failure)
    await expect(writeTasks(path, [{ ...tasks[0]!, difficulty: 2 }])).rejects.toMatchObject({ code: 'task-invalid' })
    expect(await readFile(path, 'utf8')).toBe('old')
    expect(await readdir(folder)).toEqual(['tasks.jsonl'])
  })

  it('leaves the old file and nothing else when it is aborted', async () => {
    await writeFile(path, 'old')
    const stop = new AbortController()
    const reason = new Error('enough')
    function* stopping() {
      yield* tasks
      stop.abort(reason)
      yield* tasks
    }
    await expect(writeTasks(path, stopping(), { signal: stop.signal })).rejects.toBe(reason)
    expect(await readFile(path, 'utf8')).toBe('old')
    expect(await readdir(folder)).toEqual(['tasks.jsonl'])
  })

  it('leaves the old file when its process is killed', async () => {
    await writeFile(path, 'old')
    const program = `
      import { writeSync } from 'node:fs'
      import { guessing } from ${JSON.stringify(import.meta.resolve('./guessing.fixture.ts'))}
      import { generateTasks } from ${JSON.stringify(import.meta.resolve('./generate-tasks.ts'))}
      import { writeTasks } from ${JSON.stringify(import.meta.resolve('./write-tasks.ts'))}
      function* rows() {
        let count = 0
        for (const task of generateTasks(guessing, { seed: 's', count: 1e9 })) {
          yield task
          if (++count === 1000) writeSync(1, 'writing')
        }
      }
      await writeTasks(${JSON.stringify(path)}, rows())`
    const writer = spawn(process.execPath, ['--input-type=module', '--eval', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const exited = once(writer, 'exit')
    const [sign] = await once(writer.stdout, 'data')
    writer.kill('SIGKILL')
    await exited
    expect(String(sign)).toBe('writing')
    expect(await readFile(path, 'utf8')).toBe('old')
  })

  it('names a missing folder', async () => {
    await expect(writeTasks(join(folder, 'no', 'tasks.jsonl'), tasks)).rejects.toMatchObject({
      code: 'file-failed',
      cause: expect.objectContaining({ code: 'ENOENT' }),
    })
  })
})
