import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { EpisodeRecord } from '@episodic/protocol'
import { seatRecordOf } from '@episodic/report/seats/seat-record'
import { playRun } from '@episodic/report/testing'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { readSealed, SealedFile } from './sealed-file.ts'

const folder = mkdtempSync(join(tmpdir(), 'episodic-'))
afterAll(() => rmSync(folder, { recursive: true }))
const records = playRun({ tasks: 6, attempts: 2 })
const text = records.map((record) => `${JSON.stringify(record)}\n`).join('')
let files = 0
const path = () => join(folder, `${files++}.jsonl`)

async function readAll(file: string) {
  const torn: number[] = []
  const read: EpisodeRecord[] = []
  for await (const record of readSealed(file, { onTorn: (line) => torn.push(line) })) read.push(seatRecordOf(record))
  return { read, torn }
}

describe('SealedFile', () => {
  it('writes whole lines, in the order of the calls', async () => {
    const file = path()
    {
      await using sealed = await SealedFile.open(file)
      await Promise.all(records.map((record) => sealed.append(record)))
    }
    expect(readFileSync(file, 'utf8')).toBe(text)
    expect(await readAll(file)).toEqual({ read: records, torn: [] })
  })

  it('continues after a crash at any byte, without lost, repeated or joined lines', async () => {
    const bytes = Buffer.from(text)
    await fc.assert(
      fc.asyncProperty(fc.nat(bytes.length), async (cut) => {
        const file = path()
        writeFileSync(file, bytes.subarray(0, cut))
        const { read } = await readAll(file)
        {
          await using sealed = await SealedFile.open(file)
          for (const record of records.slice(read.length)) await sealed.append(record)
        }
        expect(readFileSync(file, 'utf8')).toBe(text)
      }),
      { numRuns: 40, examples: [[0], [bytes.length], [bytes.length - 1], [text.indexOf('\n')]] },
    )
  })

  it('reads a last line without a line break, and reports an incomplete one', async () => {
    const file = path()
    writeFileSync(file, text.trimEnd())
    expect(await readAll(file)).toEqual({ read: records, torn: [] })
    writeFileSync(file, text.slice(0, -20))
    expect(await readAll(file)).toEqual({ read: records.slice(0, -1), torn: [records.length] })
  })

  it('names a line that is not a valid episode', async () => {
    const file = path()
    writeFileSync(file, text)
    appendFileSync(file, '{"format":1}\n')
    await expect(readAll(file)).rejects.toMatchObject({ code: 'run-invalid', message: /line 13 .*run/ })
  })

  it('names the path if it cannot be opened', async () => {
    await expect(SealedFile.open(join(folder, 'none', 'x'))).rejects.toMatchObject({ code: 'disk-failed' })
  })
})
