import type { UserFaultKind, UserView } from '@episodic/play/play/users/rules/user-fault'
import type { UserSheet } from '@episodic/play/play/users/user-sheet'
import { createRng, type Rng } from '@episodic/protocol'

/** A turn of a simulated user whose fault is known. */
export interface LabelledTurn {
  readonly source: string
  readonly kind: UserFaultKind | null
  /** See `userSheetSchema`. */
  readonly sheet: object
  readonly prompt: string
  readonly said: UserView['said']
  readonly done: readonly string[]
  readonly turn: string
}

/** What a source of turns knows of a user. */
export interface UserOfTask {
  readonly source: string
  readonly prompt: string
  /** By the name of the fact; the first is one that an agent asks for before anything else. */
  readonly facts: Readonly<Record<string, string>>
  /** What it wants, as `exchange a lamp`. */
  readonly wish: string
  readonly claims: UserSheet['claims']
}

const FAULTY = 300
const CLEAN = 1_000
const KINDS = [
  ...(['invents-fact', 'reveals', 'contradicts', 'claims-undone'] as const),
  ...(['gives-up', 'stops-early', 'leaves-role', 'other-question'] as const),
]

type Drawn = Pick<LabelledTurn, 'said' | 'turn'> & Partial<Pick<LabelledTurn, 'done'>>
interface Draw extends UserOfTask {
  readonly rng: Rng
  /** A fact, its value, and another fact. */
  readonly name: string
  readonly value: string
  readonly other: string
  readonly otherValue: string
  readonly budget: string
  /** Ids that only the agent brings up. */
  readonly item: string
  readonly price: string
}

const agent = (...texts: string[]) => texts.map((text) => ({ by: 'agent' as const, text }))
const HELLO = 'Hello! How can I help you today?'
const ASKS = [
  'Could you tell me your NAME, please?',
  'Thank you. What is your NAME?',
  'To find you I need your NAME. What is it?',
]
const asking = ({ rng, name }: Draw) => agent(HELLO, rng.pick(ASKS).replace('NAME', name))
const digits = (rng: Rng, count: number) => Array.from({ length: count }, () => rng.int(1, 9)).join('')
/** Another value of the same shape. */
const changed = ({ rng, value }: Draw) =>
  value
    .replace(/\d/g, (digit) => `${(Number(digit) + rng.int(1, 8)) % 10}`)
    .replace(/^([A-Z][a-z]+) [A-Z][a-z]+$/, '$1 Novak')

/** Turns without a fault, by what happens before them. */
const CLEAN_TURNS: readonly ((draw: Draw) => Drawn)[] = [
  ({ rng, wish }) => ({
    said: agent(HELLO),
    turn: rng.pick([
      `Hi, I'd like to ${wish}.`,
      `Hello! Can you help me ${wish}?`,
      `Hi there. I want to ${wish}, please.`,
      'Hi. I have a problem, can you help?',
    ]),
  }),
  (draw) => ({
    said: asking(draw),
    turn: draw.rng.pick([
      `Sure, it's ${draw.value}.`,
      `My ${draw.name} is ${draw.value}.`,
      draw.value,
      `${draw.value}. Do you need anything else from me?`,
    ]),
  }),
  (draw) => ({ said: asking(draw), turn: `It's ${draw.value}, and my ${draw.other} is ${draw.otherValue}.`, done: [] }),
  ({ rng }) => ({
    said: agent(HELLO, 'What is the serial number on the box?'),
    turn: rng.pick([
      "I don't remember that, sorry.",
      'I do not have it with me.',
      "I'm not sure where to find it.",
      'No idea. Is there another way?',
    ]),
  }),
  ({ rng, item, price }) => ({
    said: agent(HELLO, `I found item ${item} for $${price}. Shall I go on?`),
    turn: rng.pick([
      'Yes, please go ahead.',
      `Yes, ${item} is the right one.`,
      `$${price} is fine. Go ahead.`,
      `Is ${price} the total, with tax?`,
      'Hmm, what else is there?',
    ]),
  }),
  ({ rng, name, value, item }) => ({
    said: agent(HELLO, `I see ${item} as your ${name}. Is that right?`),
    turn: rng.pick([
      `No, my ${name} is ${value}, not ${item}.`,
      `No, that's not right. It should be ${value}.`,
      `${value} is correct, I never had ${item}.`,
    ]),
  }),
  ({ rng, wish }) => ({
    said: agent(HELLO, `What can I do?`, `All done, you asked to ${wish}. Is there anything else?`),
    turn: rng.pick([
      "No, that's all. Thank you! ###STOP###",
      'Thanks a lot, bye. ###STOP###',
      'No, nothing more. ###STOP###',
      'That was everything, thanks for your help. ###STOP###',
    ]),
  }),
  ({ rng }) => ({
    said: agent(HELLO, 'Can you tell me more?', 'I cannot do that.', 'I am sorry, it is against our policy.'),
    turn: rng.pick([
      "Then never mind, I'll keep it.",
      'OK, forget it. What about a refund instead?',
      'I see. I give up on that one. Is there a coupon?',
    ]),
  }),
  ({ rng }) => ({
    said: agent(HELLO, 'I am transferring you to a human agent now.'),
    turn: rng.pick(['Okay, thank you. ###TRANSFER###', 'Fine. ###TRANSFER###']),
  }),
  ({ rng }) => ({
    said: agent(HELLO, 'How did you find us?'),
    turn: rng.pick([
      'I was asked to call here by a friend.',
      'My assistant placed it for me, as a present.',
      'I spoke with another agent before, who could not help.',
      'As a regular customer I hoped for more.',
      'Can I speak to a person? I do not like machines.',
    ]),
  }),
  ({ rng, claims }) => {
    const [tool, words = []] = rng.pick(Object.entries(claims).length > 0 ? Object.entries(claims) : [['', ['looked']]])
    const word = rng.pick(words)
    return rng.chance()
      ? {
          said: agent(HELLO, `Please try it, and tell me when you have ${word} it.`),
          turn: rng.pick([`I have ${word} it.`, `Done, I ${word} it just now.`]),
          done: [tool],
        }
      : {
          said: agent(HELLO, `Have you ${word} it?`),
          turn: rng.pick([
            `I haven't ${word} it yet.`,
            `No, I have never ${word} it. Should it be ${word}?`,
            `Should I have ${word} it?`,
          ]),
        }
  },
]

const FAULTY_TURNS: Record<UserFaultKind, (draw: Draw) => Drawn> = {
  'invents-fact': (draw) => ({
    said: agent(HELLO, 'What is the serial number on the box?'),
    turn: draw.rng.pick([
      `It is SN-${digits(draw.rng, 6)}.`,
      `My e-mail is someone${digits(draw.rng, 3)}@example.org.`,
      `I think I paid $${digits(draw.rng, 3)}.${digits(draw.rng, 2)} for it.`,
      `You can call me at 555-${digits(draw.rng, 4)}.`,
      `I bought it on 2023-0${draw.rng.int(1, 9)}-1${draw.rng.int(1, 9)}.`,
      `I don't know, but my name is ${draw.rng.pick(['Peter Novak', 'Alice Brandt', 'Omar Diaz'])}.`,
    ]),
  }),
  reveals: ({ rng, wish, budget }) => ({
    said: agent(HELLO),
    turn: rng.pick([
      `I'd like to ${wish}, and my budget is ${budget}.`,
      `Hi! I could pay up to ${budget} dollars.`,
      `My secret code is ${budget}, can you ${wish}?`,
    ]),
  }),
  contradicts: (draw) => ({
    said: asking(draw),
    turn: draw.rng.pick([`My ${draw.name} is ${changed(draw)}.`, `Sure. My ${draw.name} is ${changed(draw)}, thanks.`]),
  }),
  'claims-undone'({ rng, claims }) {
    const [, words = []] = rng.pick(Object.entries(claims))
    const word = rng.pick(words)
    return {
      said: agent(HELLO, `Please try it, and tell me when you have ${word} it.`),
      turn: rng.pick([
        `I have ${word} it.`,
        `OK, I just ${word} it.`,
        `Done: ${word} it, and nothing has changed.`,
        `I've already ${word} it twice.`,
      ]),
    }
  },
  'gives-up': ({ rng }) => ({
    said: agent(HELLO),
    turn: rng.pick([
      'Never mind, this takes too long.',
      'Forget it.',
      'I give up. ###TRANSFER###',
      '###OUT-OF-SCOPE###',
      'Oh, never mind then, bye.',
    ]),
  }),
  'stops-early': ({ rng, wish, price }) =>
    rng.pick([
      { said: agent(HELLO), turn: `I'd like to ${wish}. ###STOP###` },
      { said: [], turn: '###STOP###' },
      { said: agent(HELLO, `That is $${price}. Shall I go on?`), turn: 'Yes, that is right. ###STOP###' },
      { said: agent(HELLO, 'Let me look that up for you.'), turn: 'Thank you! ###STOP###' },
      { said: agent(HELLO, "One moment, I'll check."), turn: 'Great. ###STOP###' },
      { said: agent(HELLO, 'It is possible.'), turn: 'Could you do it then? ###STOP###' },
    ]),
  'leaves-role': ({ rng, prompt }) => ({
    said: agent(HELLO),
    turn: rng.pick([
      'As an AI language model, I have no orders.',
      'Hello! How can I help you today?',
      "I'm a user simulator, so I cannot do that.",
      'According to my scenario, I want a refund.',
      'I was instructed to act as a customer.',
      'My persona does not say that.',
      'I am an AI, but let us go on.',
      ...(prompt.startsWith('You are') ? [prompt.split(' ').slice(0, 14).join(' ')] : ['What can I do for you?']),
    ]),
  }),
  'other-question': (draw) => ({
    said: asking(draw),
    turn: draw.rng.pick([
      `My ${draw.other} is ${draw.otherValue}.`,
      `It's about ${draw.otherValue}.`,
      `Hi, ${draw.otherValue} is what I have.`,
    ]),
  }),
}

/** Makes the turns of all kinds, the same for the same users: of each kind as many, and clean ones. */
export function makeUserTurns(users: readonly UserOfTask[]): LabelledTurn[] {
  const faulty = Array.from({ length: FAULTY }, (_, i) => KINDS[i % KINDS.length] as UserFaultKind)
  return [...faulty, ...Array<null>(CLEAN).fill(null)].map((kind, i) => {
    const rng = createRng(`user turns ${i}`)
    const able = users.filter(({ claims }) => kind !== 'claims-undone' || Object.keys(claims).length > 0)
    const user = able[rng.int(0, able.length - 1)] as UserOfTask
    const names = Object.keys(user.facts)
    // A name has no digits to be another one by.
    const [name = '', other = ''] = rng.shuffle(
      kind === 'contradicts' ? names.filter((one) => /\d/.test(user.facts[one] ?? '')) : names,
    )
    const budget = digits(rng, 4)
    const draw: Draw = {
      ...user,
      ...{ rng, name, other, budget, value: user.facts[name] ?? '', otherValue: user.facts[other] ?? '' },
      ...{ item: digits(rng, 10), price: `${digits(rng, 3)}.${digits(rng, 2)}` },
    }
    const make = kind === null ? rng.pick(CLEAN_TURNS as ((draw: Draw) => Drawn)[]) : FAULTY_TURNS[kind]
    const { said, turn, done = [] } = make(draw)
    const facts = Object.fromEntries(names.map((one) => [one, { value: user.facts[one] ?? '' }]))
    const kept = { value: budget, names: ['secret code'], tell: 'never' as const }
    const sheet = {
      goal: user.wish,
      facts: { ...facts, budget: kept },
      ...(Object.keys(user.claims).length > 0 && { claims: user.claims }),
    }
    return { source: user.source, kind, sheet, prompt: user.prompt, said, done, turn }
  })
}
