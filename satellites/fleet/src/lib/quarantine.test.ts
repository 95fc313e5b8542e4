import { describe, expect, it } from 'vitest'
import { Quarantine } from './quarantine.ts'

/** Lets all that can go on go on. */
const settle = async () => {
  for (let i = 0; i < 20; i++) await null
}

describe('Quarantine', () => {
  it('plays one alone when the others have left, and lets nobody in before', async () => {
    const quarantine = new Quarantine()
    const log: string[] = []
    const [first, second] = [await quarantine.enter(), await quarantine.enter()]
    const single = quarantine.enterAlone()?.then((place) => {
      log.push('alone')
      return place
    })
    const late = quarantine.enter().then(() => void log.push('late'))
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
    const quarantine = new Quarantine()
    const beside = await quarantine.enter()
    const waiting = quarantine.enterAlone()
    expect(quarantine.enterAlone()).toBeNull()
    beside[Symbol.dispose]()
    const place = await waiting
    expect(quarantine.enterAlone()).toBeNull()
    place?.[Symbol.dispose]()
    const next = await quarantine.enterAlone()
    next?.[Symbol.dispose]()
    expect([await quarantine.enter(), await quarantine.enter()]).toHaveLength(2)
  })
})
