import { createRng } from '@episodic/protocol'
import { describe, expect, it } from 'vitest'
import { shuffleRubric } from './rubric.ts'

const RUBRIC = `Pass it if:

- one
  and more of one
- two
- three

Else fail it.`

describe('shuffleRubric', () => {
  it('moves the items of the list, with their lines, and nothing else', () => {
    const orders = new Set(Array.from({ length: 40 }, (_, i) => shuffleRubric(RUBRIC, createRng(`${i}`))))
    expect(orders.size).toBe(6)
    for (const shuffled of orders) {
      expect(shuffled.split('\n').toSorted()).toEqual(RUBRIC.split('\n').toSorted())
      expect(shuffled).toContain('- one\n  and more of one')
      expect(shuffled.startsWith('Pass it if:\n\n- ')).toBe(true)
      expect(shuffled.endsWith('\n\nElse fail it.')).toBe(true)
      expect(shuffled.match(/\n\n/g)).toHaveLength(2)
    }
  })

  it('keeps numbers in order, and a rubric without a list as it is', () => {
    const shuffled = new Set(Array.from({ length: 20 }, (_, i) => shuffleRubric('1. a\n2. b', createRng(`${i}`))))
    expect([...shuffled].toSorted()).toEqual(['1. a\n2. b', '1. b\n2. a'])
    expect(shuffleRubric('Is it polite?', createRng('1'))).toBe('Is it polite?')
  })
})
