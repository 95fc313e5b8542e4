import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { findUserFault, USER_FAULTS, type UserView } from './user-fault.ts'
import { userSheetSchema } from './user-sheet.ts'

/** Returns the turns of a file, each with what is wrong with it, and what the rules find. */
function judgedTurns(file: string) {
  const lines = readFileSync(new URL(file, import.meta.url), 'utf8')
    .trim()
    .split('\n')
  return lines.map((line) => {
    const { sheet, done, ...rest } = JSON.parse(line)
    const { turn, kind, ...view } = rest as { turn: string; kind: string | null } & Omit<UserView, 'done'>
    return {
      kind,
      turn,
      found: findUserFault(userSheetSchema.parse(sheet), { ...view, done: new Set(done) }, turn)?.kind,
    }
  })
}
/** Made by `pnpm interop users --write`. */
const turns = judgedTurns('./user-turns.fixture.jsonl')

describe('findUserFault', () => {
  it.each(Object.keys(USER_FAULTS))('finds 95 %% of the planted turns with the fault %s', (kind) => {
    const planted = turns.filter((one) => one.kind === kind)
    expect(planted.length).toBeGreaterThan(35)
    expect(planted.filter(({ found }) => found).length / planted.length).toBeGreaterThanOrEqual(0.95)
  })

  it('holds at most 1 % of 1,000 clean turns to be faulty', () => {
    const clean = turns.filter(({ kind }) => kind === null)
    expect(clean).toHaveLength(1_000)
    expect(clean.filter(({ found }) => found).length).toBeLessThanOrEqual(10)
  })

  it('finds as many of the turns that were written without knowing the rules as the page of users says', () => {
    const written = judgedTurns('./written-turns.fixture.jsonl')
    const faulty = written.filter(({ kind }) => kind !== null)
    const clean = written.filter(({ kind }) => kind === null)
    const foundIn = (some: typeof written) => some.filter(({ found }) => found).length
    expect([faulty.length, clean.length]).toEqual([286, 359])
    expect([foundIn(faulty), foundIn(clean)]).toEqual([237, 12])
  })

  it.each([
    ['It is +41 79 000.', null],
    ['My line is 079 123 45 67.', null],
    ['My line is 0791234567, is that what you need?', null],
    ['My PIN is 4711.', 'reveals'],
    ['My line is 0791234568.', 'contradicts'],
    ['The phone is black.', 'contradicts'],
    ['The phone is not black, it is red.', null],
    ['I rebooted it.', 'claims-undone'],
    ['I switched it on.', null],
    ['Will it work once I rebooted it?', null],
  ])('says of %j: %s', (turn, kind) => {
    const sheet = userSheetSchema.parse({
      goal: 'Get the phone to work.',
      facts: {
        line: { value: '0791234567' },
        PIN: { value: '4711', tell: 'asked' },
        colour: { value: 'red', names: ['phone'], not: ['black', 'blue'] },
      },
      claims: { reboot: ['rebooted'], switch: ['switched it on'] },
    })
    const said = [{ by: 'agent' as const, text: 'Hello! My number is +41 79 000 and 079 123 45 67. Who are you?' }]
    const fault = findUserFault(sheet, { prompt: '', said, done: new Set(['switch']) }, turn)
    expect(fault?.kind ?? null).toBe(kind)
  })
})
