import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { openTau2 } from '../tau2-world.ts'
import { PHONE_RULES } from '../telecom/phone-rules.ts'
import { createTelecom } from '../telecom/telecom.ts'
import { PHONE_CLAIMS } from './phone-claims.ts'
import { userSheetOf } from './user-sheet.ts'

const instructions = { domain: 'retail', unknown_info: null, task_instructions: '.' }

describe('userSheetOf', () => {
  it.each([
    ['You are Ada Abel in zip code 19122.', { name: 'Ada Abel', 'zip code': '19122' }],
    [
      'You name is Ada Abel and your email is ada.abel1@example.com.',
      { name: 'Ada Abel', email: 'ada.abel1@example.com' },
    ],
    [
      'Your user id is: ada_abel_1234.\n\nYour confirmation number is JMO1MG.',
      { 'user id': 'ada_abel_1234', 'reservation id': 'JMO1MG' },
    ],
    [
      'You are Ada Abel with phone number 555-123-2002. You are currently abroad.',
      { name: 'Ada Abel', 'phone number': '555-123-2002' },
    ],
    ['You are Ada, and you have two emails: a.b@example.com and c.d@example.com.', {}],
  ])('takes from %j what stands there in one value', (known_info, expected) => {
    const sheet = userSheetOf({ ...instructions, reason_for_call: 'Help me.', known_info }, {})
    expect(sheet.goal).toBe('Help me.')
    const facts = Object.entries(sheet.facts as Record<string, { value: string }>)
    expect(Object.fromEntries(facts.map(([name, { value }]) => [name, value]))).toEqual(expected)
  })

  it('stands in the tasks of a world whose users are checked, and in no others', () => {
    const sample = new URL('../../../../sample/tau2/', import.meta.url)
    const world = openTau2('telecom', createTelecom, fileURLToPath(sample), new URL('golden.jsonl', sample))
    const draft = (isChecked: boolean) =>
      world.tasks('base', isChecked).generate({ index: 0, difficulty: 0, rng: undefined as never })
    const { metadata: plain, ...rest } = draft(false)
    const { metadata, ...checked } = draft(true)
    expect(checked).toEqual(rest)
    expect(metadata).toEqual({ ...plain, users: { user: expect.anything() } })
    expect(metadata?.users).toMatchObject({ user: { claims: { reboot_device: ['rebooted', 'restarted'] } } })
  })
})

describe('PHONE_CLAIMS', () => {
  it('has words for every tool of the phone that changes something, and for no other', () => {
    const changing = Object.entries(PHONE_RULES).filter(([, { changes }]) => changes)
    expect(Object.keys(PHONE_CLAIMS).toSorted()).toEqual(changing.map(([tool]) => tool).toSorted())
  })
})
