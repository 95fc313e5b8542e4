import { describe, inject } from 'vitest'
import { bubblewrap } from './bubblewrap.ts'
import { describeMachine } from './machine.contract.ts'

describe.skipIf(inject('programs').bwrap === null)('bubblewrap', () => {
  describeMachine('bubblewrap', () => bubblewrap())
})
