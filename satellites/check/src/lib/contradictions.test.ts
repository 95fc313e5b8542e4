import { definePolicy } from '@episodic/env'
import { defineEnvironment } from '@episodic/mcp-server'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { checkWorld } from './check-world.ts'

const OUTPUT = {
  status: z.enum(['open', 'in_transit', 'shipped']),
  itemsLeft: z.int(),
  weight: z.number(),
  isPaid: z.boolean(),
}
type Data = { [Key in keyof typeof OUTPUT]: z.infer<(typeof OUTPUT)[Key]> }
const DATA: Data = { status: 'open', itemsLeft: 3, weight: 12.346, isPaid: false }

/** A shop with one tool, which answers with a text and data. */
function shop(
  text: string,
  { data = DATA, waive = {} }: { data?: Data; waive?: Readonly<Record<string, string>> } = {},
) {
  return {
    environment: defineEnvironment({
      name: 'shop',
      version: '1.0.0',
      description: 'Look at an order.',
      params: z.object({}),
      state: { public: z.object({}), private: z.object({}) },
      start: () => ({ public: {}, private: {} }),
      observe: () => 'The shop is open.',
      tools: ({ tool }) => ({
        look: tool({
          description: 'Look.',
          input: z.object({}),
          output: z.object({ order: z.object(OUTPUT) }),
          play({ end, say }) {
            end('seen')
            return say(text, { order: data })
          },
        }),
      }),
      rewards: { seen: ({ end }) => (end?.reason === 'seen' ? 1 : 0) },
      check: { waive },
    }),
    solver: definePolicy({ name: 'looking', start: () => () => ({ tool: 'look', arguments: {} }) }),
  }
}

const warned = async (world: Parameters<typeof checkWorld>[0]) =>
  (await checkWorld(world, { only: ['rewards'] })).checks.flatMap(({ warnings }) =>
    warnings.filter(({ name }) => name.startsWith('answer-contradictory')),
  )

describe('the check of what answers say', () => {
  it.each([
    ['status', 'The order was found. The status is shipped.', 'status is shipped'],
    ['status', '- Status: in transit', 'Status: in transit'],
    ['itemsLeft', 'Items left: 4.', 'Items left: 4'],
    ['itemsLeft', '- `items_left` = 30', '`items_left` = 30'],
    ['weight', 'Its weight is now 12.4 kg.', 'weight is now 12.4'],
    ['isPaid', 'is paid: yes', 'is paid: yes'],
  ])('warns if a text says another value of %s: %s', async (field, text, said) => {
    const expected = field === 'weight' ? { ...DATA, weight: 11.2 } : DATA
    const [warning, ...others] = await warned(shop(text, { data: expected }))
    expect(others).toEqual([])
    expect(warning).toMatchObject({
      name: `answer-contradictory:look.order.${field}`,
      what: `The text of an answer of look says "${said}", and order.${field} in its data is ${JSON.stringify(expected[field as keyof Data])}.`,
      again: expect.stringMatching(/^params \{\}, seed \w+, step 1$/),
    })
  })

  it.each([
    ['says the same', 'The status is open, and items left: 3. The weight is 12.35, is paid: no.'],
    ['rounds or cuts numbers', 'Weight: 12.3 kg'],
    ['writes numbers in another unit', 'Weight: 1235 %'],
    ['says nothing of a field', 'There it is.'],
    [
      'speaks of what was or may be',
      'Your items left were 4. If the status is shipped, items left: 0. Never is paid: yes.',
    ],
    ['gives a range, a fraction or a date', 'Items left: 2 to 5. Items left: 3/10. Items left: 2026-01-05.'],
    ['has a longer name', 'Parcel status: shipped. Other items left: 9.'],
    ['speaks of another too', 'Order A has the status: shipped. The status is open.'],
    ['says what the enumeration has not', 'The status is fine.'],
  ])('says nothing of a text that %s', async (_, text) => {
    expect(await warned(shop(text))).toEqual([])
  })

  it('is waived by the name of the field', async () => {
    const waive = { 'answer-contradictory:look.order.status': 'It is the status of the shop.' }
    expect(await warned(shop('The status is shipped.', { waive }))).toEqual([])
  })
})
