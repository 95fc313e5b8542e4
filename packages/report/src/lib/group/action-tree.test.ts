import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type ActionNode, actionTree } from './action-tree.ts'

const step = (value: number) => ({ action: { tool: 'guess', arguments: { value } } })
const episodes = fc
  .array(fc.array(fc.integer({ min: 0, max: 2 }), { maxLength: 6 }), { maxLength: 8 })
  .map((all) => all.map((values, episode) => ({ episode, steps: values.map(step) })))

describe('actionTree', () => {
  it('gives every episode exactly one path, of its own actions', () => {
    fc.assert(
      fc.property(episodes, (played) => {
        const paths = new Map<number, object[]>()
        const walk = (node: ActionNode, before: readonly object[]) => {
          expect(node.depth).toBe(before.length)
          const path = [...before, ...node.actions]
          for (const episode of node.ended) {
            expect(paths.has(episode)).toBe(false)
            paths.set(episode, path)
          }
          for (const next of node.next) walk(next, path)
        }
        walk(actionTree(played), [])
        expect([...paths].sort(([a], [b]) => a - b)).toEqual(played.map(({ episode, steps }) => [episode, steps]))
      }),
    )
  })

  it('branches only where episodes part or end', () => {
    fc.assert(
      fc.property(episodes, (played) => {
        const check = (node: ActionNode, isRoot: boolean) => {
          const counts = node.next.map(({ episodes: some }) => some.length)
          expect(node.ended.length + counts.reduce((sum, count) => sum + count, 0)).toBe(node.episodes.length)
          expect(counts).toEqual(counts.toSorted((a, b) => b - a))
          if (!isRoot) {
            expect(node.actions.length).toBeGreaterThan(0)
            expect(node.next.length === 1 && node.ended.length === 0).toBe(false)
          }
          for (const next of node.next) check(next, false)
        }
        check(actionTree(played), true)
      }),
    )
  })

  it('takes arguments as equal whatever the order of their keys, and seats apart', () => {
    const one = { action: { tool: 'move', arguments: { x: 1, y: 2 } } }
    const other = { action: { tool: 'move', arguments: { y: 2, x: 1 } } }
    expect(
      actionTree([
        { episode: 0, steps: [one] },
        { episode: 1, steps: [other] },
      ]).next,
    ).toHaveLength(1)
    const seats = [
      { episode: 0, steps: [{ ...one, seat: 'a' }] },
      { episode: 1, steps: [{ ...one, seat: 'b' }] },
    ]
    expect(actionTree(seats).next).toHaveLength(2)
  })
})
