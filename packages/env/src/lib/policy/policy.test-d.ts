import { z } from 'zod'
import { definePolicy } from './policy.ts'

/** The part of a definition that a policy is typed by. */
const shop = {
  name: 'shop',
  version: '1.0.0',
  params: z.object({ stock: z.int().default(3) }),
  state: { public: z.object({ stock: z.int() }) },
  tools: {
    buy: { input: z.object({ amount: z.int(), marks: z.array(z.string()).optional() }), output: null },
    find: { input: z.union([z.object({ name: z.string() }), z.object({ id: z.int() })]), output: null },
    note: { input: z.record(z.string(), z.json()), output: null },
    close: { input: z.object({}), output: null },
    grade: {
      input: z.object({ as: z.enum(['good', 'poor']), tags: z.array(z.enum(['old'])).optional() }),
      output: null,
    },
  },
}

// A policy for a known environment has its tools, arguments, parameters and observations.
definePolicy(shop, {
  name: 'buyer',
  start({ task: { params, prompt } }) {
    prompt satisfies string
    let left = params.stock
    return (observation, { last }) => {
      left -= 1
      if (last?.info.refused) return { tool: 'close', arguments: {} }
      if (left === 0) return { tool: 'find', arguments: { id: observation.structured?.stock ?? 0 } }
      return { tool: 'buy', arguments: { amount: left, marks: ['a', 'b'] } }
    }
  },
})
definePolicy(shop, {
  name: 'later',
  start:
    async () =>
    async (_, { last }) =>
      last ? { tool: 'close', arguments: {} } : { tool: 'buy', arguments: { amount: 1, marks: undefined } },
})
definePolicy(shop, {
  name: 'any-argument',
  start: () => () => ({ tool: 'note', arguments: { anything: [1] } }),
})
definePolicy(shop, {
  name: 'read',
  start: () => () => ({ tool: 'buy', arguments: JSON.parse('{}') }),
})

definePolicy(
  { ...shop, tools: shop.tools as Record<string, { input: z.ZodType; output: null }> },
  {
    name: 'of-tools-that-a-server-lists',
    start: () => () => ({ tool: 'anything', arguments: { any: 1 } }),
  },
)

// Words that a schema lists are kept, in branches, in lists and beside other tools.
definePolicy(shop, {
  name: 'grader',
  start:
    () =>
    (_, { last }) => {
      if (!last) return { tool: 'buy', arguments: { amount: 1 } }
      return { tool: 'grade', arguments: { as: last.info.refused ? 'poor' : 'good', tags: ['old'] } }
    },
})
definePolicy(shop, {
  name: 'wrong-word',
  // @ts-expect-error: the schema does not list it
  start: () => () => ({ tool: 'grade', arguments: { as: 'fair' } }),
})

definePolicy(shop, {
  name: 'misspelt-tool',
  // @ts-expect-error: there is no such tool
  start: () => () => ({ tool: 'bye', arguments: { amount: 1 } }),
})
definePolicy(shop, {
  name: 'misspelt-argument',
  // @ts-expect-error: an optional argument is misspelt
  start: () => () => ({ tool: 'buy', arguments: { amount: 1, mark: ['a'] } }),
})
definePolicy(shop, {
  name: 'misspelt-in-a-branch',
  // @ts-expect-error: an optional argument of one branch is misspelt
  start:
    () =>
    async (_, { last }) =>
      last ? { tool: 'close', arguments: {} } : { tool: 'buy', arguments: { amount: 1, mark: ['a'] } },
})
definePolicy(shop, {
  name: 'misspelt-of-a-union',
  // @ts-expect-error: neither member of the union has the argument
  start: () => () => ({ tool: 'find', arguments: { id: 1, names: 'a' } }),
})
definePolicy(shop, {
  name: 'misspelt-parameter',
  start: ({ task }) => {
    // @ts-expect-error: there is no such parameter
    task.params.stok
    return () => ({ tool: 'close', arguments: {} })
  },
})
definePolicy(shop, {
  name: 'misspelt-field',
  // @ts-expect-error: the public state has no such field
  start: () => (seen) => ({ tool: 'buy', arguments: { amount: seen.structured?.stok ?? 1 } }),
})

// Each branch has arguments of its own, nested ones too.
definePolicy({
  name: 'explorer',
  start() {
    let steps = 0
    return (observation, { last }) => {
      steps += 1
      if (steps === 1) return { tool: 'take', arguments: { item: 'lamp' } }
      if (last?.info.refused) return { tool: 'look', arguments: {} }
      if (observation.text === '') return { tool: 'put', arguments: { at: { x: 1 }, marks: [{ a: 1 }, { b: 2 }] } }
      return { tool: 'go', arguments: { at: { direction: 'north' } } }
    }
  },
})
definePolicy({
  name: 'later',
  start:
    async () =>
    async (_observation, { last }) =>
      last ? { tool: 'take', arguments: { item: 'lamp' } } : { tool: 'go', arguments: { direction: 'north' } },
})

definePolicy({
  name: 'silent',
  // @ts-expect-error an action has arguments, though they may be empty
  start: () => () => ({ tool: 'look' }),
})
definePolicy({
  name: 'odd',
  // @ts-expect-error arguments are what JSON can say
  start: () => () => ({ tool: 'look', arguments: { at: new Date() } }),
})
