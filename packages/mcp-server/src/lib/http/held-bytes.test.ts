import { describe, expect, it } from 'vitest'
import { HeldBytes } from './held-bytes.ts'

const MIB = 1_048_576

describe('HeldBytes', () => {
  it('lets a large body wait until there is room, and a small one never', async () => {
    const held = new HeldBytes(10 * MIB)
    const first = await held.take(30 * MIB)
    await held.take(MIB)
    const order: string[] = []
    const second = held.take(6 * MIB).then((body) => {
      order.push('second')
      return body
    })
    const third = held.take(6 * MIB).then(() => order.push('third'))
    await held.take(MIB)
    expect(order).toEqual([])
    first[Symbol.dispose]()
    const body = await second
    await held.take(MIB)
    expect(order).toEqual(['second'])
    body[Symbol.dispose]()
    await third
  })
})
