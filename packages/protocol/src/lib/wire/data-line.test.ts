import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../base/json.ts'
import { withDataLine, withoutDataLine } from './data-line.ts'

describe('withDataLine', () => {
  it.each<[string, JsonObject, string]>([
    ['The order.', { id: 7, open: false }, 'The order.\n{"id":7,"open":false}'],
    ['Order 7.', { id: 7 }, 'Order 7.\n{"id":7}'],
    ['', { id: 7 }, '{"id":7}'],
    ['Nothing to say.', {}, 'Nothing to say.'],
    ['The order: {"id":7}', { id: 7 }, 'The order: {"id":7}'],
  ])('gives %j with %j as %j', (text, data, whole) => {
    expect(withDataLine(text, data)).toBe(whole)
  })

  it('leaves a text as it is if the data is no JSON, which no step is written with', () => {
    const circular: Record<string, never> = {}
    circular.self = circular as never
    expect(withDataLine('Done.', circular)).toBe('Done.')
  })

  it('is undone by withoutDataLine, which also takes out the line of some of the fields', () => {
    const texts = fc.stringMatching(/^[A-Za-z0-9 .,-]{0,40}$/)
    const fields = fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 4 })
    fc.assert(
      fc.property(texts, fields, fc.nat(), (text, value, mask) => {
        const data = JSON.parse(JSON.stringify(value)) as JsonObject
        const some = Object.fromEntries(Object.entries(data).filter((_, i) => mask & (1 << i)))
        for (const shown of [data, some]) {
          const whole = withDataLine(text, shown)
          const bare = whole === text || text !== '' ? `${text}\nThen.` : 'Then.'
          expect(withoutDataLine(`${whole}\nThen.`, data)).toBe(bare)
        }
      }),
      { seed: 30, numRuns: 300 },
    )
  })
})
