import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { StepTimes } from './step-times.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'episodic-times-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

function timesOf(steps: readonly (readonly [roundTrip: number, server: number])[]): StepTimes {
  const times = new StepTimes()
  for (const [roundTrip, server] of steps) times.add({ roundTrip, server })
  return times
}

describe('StepTimes', () => {
  it('divides a mean step into the server, the fastest way there and back, and waiting', () => {
    const { parts } = timesOf([
      [3, 2],
      [10, 1],
      [11, 3],
    ])
    expect(parts).toEqual({ steps: 3, server: 2, wire: 1, queue: 5 })
  })

  it('knows no parts without a step', async () => {
    const times = new StepTimes()
    await times.write(folder)
    await times.read(folder)
    expect(times.parts).toBeNull()
  })

  it('goes on with what an earlier part of the run left in its folder', async () => {
    await timesOf([[4, 1]]).write(folder)
    const times = new StepTimes()
    await times.read(folder)
    times.addAll(timesOf([[9, 1]]))
    times.addAll(new StepTimes())
    expect(times.parts).toEqual({ steps: 2, server: 1, wire: 3, queue: 2.5 })
    await times.write(folder)
    expect(JSON.parse(readFileSync(join(folder, 'times.json'), 'utf8'))).toMatchObject({ steps: 2, roundTrip: 13 })
  })

  it('begins anew where the file cannot be read', async () => {
    writeFileSync(join(folder, 'times.json'), '{"format":1,')
    const times = timesOf([[2, 1]])
    await times.read(folder)
    expect(times.parts).toEqual({ steps: 1, server: 1, wire: 1, queue: 0 })
  })
})
