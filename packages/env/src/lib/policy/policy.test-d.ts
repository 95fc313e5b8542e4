import { definePolicy } from './policy.ts'

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
