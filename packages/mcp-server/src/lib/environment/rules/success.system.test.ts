import { describe, expect, it } from 'vitest'
import { ledger } from '../../fixtures/ledger.fixture.ts'
import { rehearse } from '../rehearse/rehearse.ts'

describe('success, as a world defines it', () => {
  it('is returned by rehearsals, and has to be a boolean', () => {
    const world = rehearse(ledger, { params: { budget: 1 } })
    expect(world.play('spend', {})).not.toHaveProperty('success')
    expect(world.play('stop', {})).toMatchObject({ success: true })
    const broken = rehearse(ledger, { params: { budget: -1 } })
    expect(() => broken.play('stop', {})).toThrow(
      '`success` of ledger returned "perhaps", and has to return true or false.',
    )
  })
})
