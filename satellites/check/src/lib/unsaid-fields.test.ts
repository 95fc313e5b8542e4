import type { JsonObject } from '@episodic/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { unsaidFields } from './unsaid-fields.ts'

describe('unsaidFields', () => {
  it.each<[string, JsonObject]>([
    ['50 is Higher. 3 guesses left.', { value: 50, hint: 'higher', left: 3 }],
    ['It costs $1,200.50, or 3% more.', { price: 1200.5, more: 3 }],
    ['At 3,4 and -2.', { row: 3, column: 4, level: -2 }],
    ['Two\n  lines, true.', { text: 'two lines', certain: true }],
    ['{"order": {"id": 7,\n "note": null}}', { order: { id: 7, note: null } }],
    ['The order: {"id":7,"items":[]}', { order: { id: 7, items: [] } }],
  ])('finds nothing in %j, which says all of %j', (text, data) => {
    expect(unsaidFields(text, data)).toBeNull()
  })

  it.each<[string, JsonObject, JsonObject]>([
    ['The order.', { order: { id: 7, status: 'open' } }, { order: { id: 7, status: 'open' } }],
    ['Order 7.', { id: 7, status: 'open' }, { status: 'open' }],
    ['', { id: 7 }, { id: 7 }],
    // The number, the word and the sign have to be whole.
    ['Order 17 of 2.5.', { a: 7, b: 2, c: 5 }, { a: 7, b: 2, c: 5 }],
    ['reopened', { status: 'open' }, { status: 'open' }],
    ['5 below', { degrees: -5 }, { degrees: -5 }],
    // Once is not twice.
    ['Found at 3.', { row: 3, column: 3 }, { column: 3 }],
    // Words for nothing, yes and no cannot be recognized.
    [
      'Nobody has it. No orders.',
      { who: null, orders: [], open: false, note: '' },
      { who: null, orders: [], open: false, note: '' },
    ],
  ])('finds what %j does not say of %j', (text, data, unsaid) => {
    expect(unsaidFields(text, data)).toEqual(unsaid)
  })

  it('takes keys that the schema does not declare for values', () => {
    const declared = new Set(['stock'])
    expect(unsaidFields('You have 2.', { stock: { apple: 2 } }, declared)).toEqual({ stock: { apple: 2 } })
    expect(unsaidFields('You have 2 of apple.', { stock: { apple: 2 } }, declared)).toBeNull()
  })

  it('finds nothing in a text that has the unsaid fields of any data as JSON', () => {
    const texts = fc.stringMatching(/^[A-Za-z0-9 .,-]{0,40}$/)
    const data = fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 4 })
    fc.assert(
      fc.property(texts, data, (text, value) => {
        const given = JSON.parse(JSON.stringify(value)) as JsonObject
        expect(unsaidFields(`${text}\n${JSON.stringify(unsaidFields(text, given) ?? {})}`, given)).toBeNull()
      }),
      { seed: 30, numRuns: 300 },
    )
  })
})
