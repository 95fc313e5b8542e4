import { describe, expect, it } from 'vitest'
import { PlayAlone } from './play-alone.ts'

/** Lets all that can go on go on. */
const settle = async () => {
  for (let i = 0; i < 20; i++) await null
}

describe('PlayAlone', () => {
  it('plays one alone when the others have left, and lets nobody in before', async () => {
    const alone = new PlayAlone()
    const log: string[] = []
    const [first, second] = [await alone.enter(), await alone.enter()]
    const single = alone.enterAlone()?.then((place) => {
      log.push('alone')
      return place
    })
    const late = alone.enter().then(() => void log.push('late'))
    first[Symbol.dispose]()
    first[Symbol.dispose]()
    await settle()
    expect(log).toEqual([])
    second[Symbol.dispose]()
    const place = await single
    await settle()
    expect(log).toEqual(['alone'])
    place?.[Symbol.dispose]()
    await late
    expect(log).toEqual(['alone', 'late'])
  })

  it('lets one at a time be alone, or wait for it', async () => {
    const alone = new PlayAlone()
    const beside = await alone.enter()
    const waiting = alone.enterAlone()
    expect(alone.enterAlone()).toBeNull()
    beside[Symbol.dispose]()
    const place = await waiting
    expect(alone.enterAlone()).toBeNull()
    place?.[Symbol.dispose]()
    const next = await alone.enterAlone()
    next?.[Symbol.dispose]()
    expect([await alone.enter(), await alone.enter()]).toHaveLength(2)
  })
})
