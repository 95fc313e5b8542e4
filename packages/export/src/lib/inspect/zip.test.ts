import { buffer } from 'node:stream/consumers'
import { strFromU8, unzipSync } from 'fflate'
import { describe, expect, it } from 'vitest'
import { writeZip, type ZipEntry } from './zip.ts'

const MODIFIED = new Date('2026-01-05T09:00:00Z')

describe('writeZip', () => {
  it('writes entries that others unpack, in their order', async () => {
    async function* entries(): AsyncGenerator<ZipEntry> {
      yield { name: 'a/é.json', pieces: ['[', '1', ']'] }
      yield { name: 'empty', pieces: [] }
      yield { name: 'long', pieces: Array.from({ length: 5_000 }, (_, i) => `${i} `) }
    }
    const files = unzipSync(await buffer(writeZip(entries(), MODIFIED)))
    expect(Object.keys(files)).toEqual(['a/é.json', 'empty', 'long'])
    expect(Object.values(files).map((file) => strFromU8(file).slice(0, 10))).toEqual(['[1]', '', '0 1 2 3 4 '])
    expect(files.long?.length).toBe(Array.from({ length: 5_000 }, (_, i) => `${i} `).join('').length)
  })

  it('writes equal bytes for equal entries', async () => {
    async function* entries(): AsyncGenerator<ZipEntry> {
      yield { name: 'a', pieces: ['one'] }
    }
    expect(await buffer(writeZip(entries(), MODIFIED))).toEqual(await buffer(writeZip(entries(), MODIFIED)))
  })

  it.each<[string, () => AsyncGenerator<ZipEntry>]>([
    [
      'before an entry',
      async function* () {
        yield { name: 'a', pieces: ['one'] }
        throw new Error('torn')
      },
    ],
    [
      'within an entry',
      async function* () {
        yield {
          name: 'a',
          pieces: (function* () {
            yield 'one'
            throw new Error('torn')
          })(),
        }
      },
    ],
  ])('rejects with the error of a source that fails %s', async (_, entries) => {
    await expect(buffer(writeZip(entries(), MODIFIED))).rejects.toThrow('torn')
  })

  it('ends its source when the reader stops within an entry', async () => {
    let ended = 0
    async function* without(): AsyncGenerator<string> {
      try {
        for (let i = 0; ; i++) yield `${i * Math.E} `.repeat(1_000)
      } finally {
        ended += 1
      }
    }
    async function* entries(): AsyncGenerator<ZipEntry> {
      try {
        yield { name: 'endless', pieces: without() }
      } finally {
        ended += 1
      }
    }
    for await (const piece of writeZip(entries(), MODIFIED)) if (piece.length > 1_000) break
    await expect.poll(() => ended).toBe(2)
  })
})
