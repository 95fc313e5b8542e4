import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { userSheetSchema } from '../user-sheet.ts'
import { findUserFault, type UserView } from './user-fault.ts'

/** Returns the turns of a file, each with what is wrong with it, and what the rules find. */
function judgedTurns(file: string) {
  const lines = readFileSync(new URL(file, import.meta.url), 'utf8')
    .trim()
    .split('\n')
  return lines.map((line) => {
    const { sheet, done, ...rest } = JSON.parse(line)
    const { turn, kind, ...view } = rest as { turn: string; kind: string | null } & Omit<UserView, 'done'>
    return {
      ...{ kind, turn },
      /** By its customer, so that all turns of one are in the same half. */
      half: (createHash('sha256').update(JSON.stringify(sheet)).digest()[0] ?? 0) % 2,
      found: findUserFault(userSheetSchema.parse(sheet), { ...view, done: new Set(done) }, turn)?.kind,
    }
  })
}

describe('findUserFault', () => {
  // Those of `user` are made by `pnpm interop users --write`. The rules were corrected on one half of the written
  // customers; no turn of the other half was looked at.
  it.each([
    ['that are made from tasks', 'user', [0, 1], [300, 1_000], [300, 0]],
    ['of another author, of the half that was looked at', 'written', [0], [83, 105], [83, 0]],
    ['of another author, of the half that was not', 'written', [1], [203, 254], [193, 4]],
  ])('finds as many of the turns %s, as the page of users says', (_, file, halves, all, found) => {
    const turns = judgedTurns(`./${file}-turns.fixture.jsonl`).filter(({ half }) => halves.includes(half))
    const [faulty, clean] = [turns.filter(({ kind }) => kind !== null), turns.filter(({ kind }) => kind === null)]
    const foundIn = (some: typeof turns) => some.filter((one) => one.found).length
    expect([faulty.length, clean.length]).toEqual(all)
    expect([foundIn(faulty), foundIn(clean)]).toEqual(found)
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
    ['Rebooted it, nothing.', 'claims-undone'],
    ['It was rebooted, and still nothing.', 'claims-undone'],
    ['I was born on 31.08.1990.', null],
    ['I was born on 30 July 1991.', 'invents-fact'],
    ['I would pay up to two hundred and fifty.', 'reveals'],
    ['It starts with QX81.', 'reveals'],
    ['It comes from my 401k.', null],
    ['I can pay about 4k.', 'invents-fact'],
    ['I was born on 08/09/1990.', null],
    ['I turned off data saver mode, and it still does not work.', null],
    ['I turned off data.', 'claims-undone'],
    ['I turned on data roaming.', 'claims-undone'],
    ["My script says that I'm in a hurry.", 'leaves-role'],
    ['We have found you in our system.', 'leaves-role'],
    ['Please restart your phone.', 'leaves-role'],
    ['Your phone line is bad.', null],
    ['After rebooting it, nothing.', 'claims-undone'],
    ['I bought it for 89 euros.', 'invents-fact'],
    ['I would like one for 89 euros.', null],
    ['It should cost at most 50 dollars.', null],
    ['The train leaves at 9.30.', null],
    ['I bought it at shop.com, and live at St.Gallen.', null],
    ['Mail me at ann at shop dot com.', 'invents-fact'],
    ['My c++ was compiled.', 'claims-undone'],
    ['My wife Susan says so.', 'invents-fact'],
    ['I was born on 31.8.90.', null],
    ['###STOP###', null],
    ['My phone does not work. ###STOP###', 'stops-early'],
  ])('says of %j: %s', (turn, kind) => {
    const sheet = userSheetSchema.parse({
      goal: 'Get the phone to work by 9.30.',
      facts: {
        line: { value: '0791234567' },
        PIN: { value: '4711', tell: 'asked' },
        budget: { value: '250', tell: 'never' },
        password: { value: 'QX81-mm4', tell: 'never' },
        birthday: { value: 'August 31, 1990' },
        colour: { value: 'red', names: ['phone'], not: ['black', 'blue'] },
      },
      claims: {
        ...{ reboot: ['rebooted'], switch: ['switched it on'], compile: ['compiled c++', 'c++ compiled'] },
        ...{ data: ['turned data'], saver: ['turned data saver'], roaming: ['turned data roaming'] },
      },
    })
    const said = [{ by: 'agent' as const, text: 'Hello! My number is +41 79 000 and 079 123 45 67. Who are you?' }]
    const fault = findUserFault(sheet, { prompt: '', said, done: new Set(['switch', 'saver']) }, turn)
    expect(fault?.kind ?? null).toBe(kind)
  })

  it('takes no number that the user has read for another answer', () => {
    const sheet = userSheetSchema.parse({ goal: '', facts: { zip: { value: '12345' } } })
    const said = [{ by: 'agent' as const, text: 'What is your name and zip code?' }]
    const view = { prompt: 'Your phone number is 77777.', said, done: new Set<string>() }
    const faults = [7, 8].map((end) => findUserFault(sheet, view, `It is Ann Lee, and my number is 7777${end}.`))
    expect(faults.map((fault) => fault?.kind)).toEqual([undefined, 'contradicts'])
  })

  it('reads `Done` as of what the agent has asked for', () => {
    const claims = { data: ['turned data'], roaming: ['turned data roaming'] }
    const sheet = userSheetSchema.parse({ goal: '', claims })
    const said = [{ by: 'agent' as const, text: 'Please turn on data roaming.' }]
    const faults = [['roaming'], ['data']].map((done) =>
      findUserFault(sheet, { prompt: '', said, done: new Set(done) }, 'Done.'),
    )
    expect(faults.map((fault) => fault?.kind)).toEqual([undefined, 'claims-undone'])
  })
})
