import type { UserSheet } from '../user-sheet.ts'
import { has, IN_K, inOneNotation, names, plain, spaced } from './notations.ts'
import { outOfRole } from './role/out-of-role.ts'

/** What the turn of a simulated user may be wrong by, as far as rules decide it. */
export const USER_FAULTS = {
  'leaves-role': 'speaks as a model, as the agent, or of its instructions',
  'stops-early': 'stops before the agent could act',
  'gives-up': 'gives up early',
  reveals: 'reveals what it should keep',
  'claims-undone': 'claims what it has not done',
  contradicts: 'contradicts what it knows',
  'invents-fact': 'invents a fact',
  'other-question': 'answers another question',
} as const
export type UserFaultKind = keyof typeof USER_FAULTS

export interface UserFault {
  readonly kind: UserFaultKind
  readonly words: string
}

export interface UserView {
  readonly prompt: string
  /** What it read and said, oldest first. */
  readonly said: readonly { readonly by: 'agent' | 'tool' | 'user'; readonly text: string }[]
  /** The tools that it has called, and that did not refuse. */
  readonly done: ReadonlySet<string>
}

/** Returns the first fault of a turn by rules over data; `null` if they find none, which a judge may see otherwise. */
export function findUserFault(sheet: UserSheet, view: UserView, turn: string): UserFault | null {
  for (const kind of Object.keys(RULES) as UserFaultKind[]) {
    const words = RULES[kind](turn, sheet, view)
    if (words !== null) return { kind, words }
  }
  return null
}

type Rule = (turn: string, sheet: UserSheet, view: UserView) => string | null

const ASKS =
  /\?|\b(?:please|could you|can you|would you|i(?:['’]d| would) like|(?<!(?:all|what) )i (?:want|need|demand|expect)(?! anything))\b/i
const REQUESTS = /\b(?:tell|give|send|provide|confirm|need)\b/i
const PROMISES =
  /\b(?:let me (?!know)|i(?:['’]ll| will) (?!be (?:here|happy|glad)|help|assist)|i(?:['’]m| am) (?:now )?(?:search|look|check|process)ing|(?:one|a) (?:moment|second|minute)|please hold)\b/i
const AGREES =
  /\b(?:yes|yep|sure|go ahead|confirm|perfect|sounds good|do it|(?:that['’]s|that is) (?:right|fine|correct))/i
const WORKS = /\b(?:work(?:s|ing)|solved|fixed|resolved)\b/i
const ELSE =
  /\b(?:(?:any|some)thing else|further|(?:other|more) (?:request|question)|(?:answer|solve|resolve)\b|helpful|satisf)/i
const DOES_NOT_KNOW =
  /\b(?:don['’]t|do not|can['’]t|cannot|not) (?:know|remember|have|find|sure|recall|see)|\bno idea\b/i
/** What was has a day and a price; what is wished for may be any. */
const PAST =
  /\b(?:since|ordered|bought|paid|born|came|arrived|received)\b[^.?!]{0,40}?(\bm\d\dd\d\d|\b\d+(?= (?:euros?|dollars?|francs|pounds)\b)|(?<=[$€£])\d+)/gi
const NAMED =
  /\b(?:[Nn]ame(?:['’]s| is|:)|I am|I['’]m|[Tt]his is)\s+([A-Z][a-z]+ [A-Z][a-z]+)|\b([A-Z][a-z]+ [A-Z][a-z]+) (?:here|speaking)\b|\b[Mm]y (?:wife|husband|partner|daughter|son|mother|father|brother|sister|friend|colleague|companion),? ([A-Z][a-z]+)|\b(\d+ (?:[A-Z]\w+ )+(?:Street|Avenue|Road|Lane|Drive))\b/g

const RULES: Record<UserFaultKind, Rule> = {
  'leaves-role': (turn, _, { prompt }) => outOfRole(turn, prompt),
  'stops-early'(turn, { stop }, { said }) {
    const word = stop.words.find((one) => turn.includes(one))
    if (word === undefined) return null
    const agentSaid = said.findLast(({ by }) => by === 'agent')?.text
    const rest = turn.replaceAll(word, ' ')
    const agrees =
      agentSaid !== undefined &&
      questionsOf(agentSaid) !== '' &&
      !ELSE.test(agentSaid) &&
      AGREES.test(rest) &&
      !WORKS.test(rest)
    // With its first words it says what it wants.
    const isFirst = /\w/.test(rest) && said.length < 2
    const early = agentSaid === undefined || isFirst || ASKS.test(rest) || agrees || PROMISES.test(agentSaid)
    return early ? word : null
  },
  'gives-up'(turn, { stop }, { said }) {
    const agent = said.filter(({ by }) => by === 'agent')
    if (agent.length >= stop.giveUpAfter || /transfer/i.test(agent.at(-1)?.text ?? '')) return null
    return stop.giveUp.find((one) => turn.toLowerCase().includes(one.toLowerCase())) ?? null
  },
  reveals: (turn, { facts }, { said }) =>
    first(facts, (fact, name) => {
      const { value, tell } = fact
      const isKept = tell !== 'freely' && !said.some(({ by, text }) => by !== 'user' && has(text, value))
      const isAsked = said.some(({ by, text }) => by === 'agent' && asksFor(text, name, fact))
      if (!isKept || (tell === 'asked' && isAsked)) return null
      return has(turn, value) || (tell === 'never' && hasPart(turn, value)) ? value : null
    }),
  'claims-undone'(turn, { claims }, { done, said }) {
    const [doneOnes = [], undone = []] = [true, false].map((isDone) =>
      Object.entries(claims).flatMap(([tool, words]) => (done.has(tool) === isDone ? words : [])),
    )
    // `Turned on data roaming` is no claim of `turned data`.
    const findUndone = (isSaid: (words: string) => boolean) =>
      undone.find((one) => isSaid(one) && !doneOnes.some((longer) => names(longer, one) && isSaid(longer)))
    const claimed = findUndone((words) =>
      [...turn.matchAll(CLAIM(words))].some(([, before = '', asks]) => !asks && !NOT_DONE.test(before)),
    )
    if (claimed !== undefined) return claimed
    // `Done` is of what the agent has asked for.
    const [, before = '', short] = SHORTLY.exec(turn) ?? []
    const agent = said.findLast(({ by }) => by === 'agent')?.text ?? ''
    const isAsked = findUndone((words) => names(agent, words)) !== undefined
    return short && isAsked && !NOT_DONE.test(before) ? short : null
  },
  contradicts: (turn, sheet, view) =>
    first(sheet.facts, (fact, name) => {
      const { value, not } = fact
      if (has(turn, value)) return null
      const agent = view.said.findLast(({ by }) => by === 'agent')?.text ?? ''
      // A digit alone is a value only where the fact is spoken of.
      const isOf = (one: string) => one.length > 2 || asksFor(turn, name, fact) || asksFor(agent, name, fact)
      const other = not.find((one) => has(turn, one) && isOf(one) && !DENIED(one).test(turn))
      if (other !== undefined) return other
      const [wanted] = numbersOf(value)
      const stated = [name, ...fact.names].flatMap((one) => STATED(one).exec(inOneNotation(turn))?.[1] ?? [])
      const answer = asksFor(requestOf(agent), name, fact) ? turn : ''
      const isKnown = (one: string) => knownTo(sheet, view).flatMap(numbersOf).includes(one)
      const isOther = (one: string) => wanted !== undefined && shapeOf(one) === shapeOf(wanted) && !isKnown(one)
      return [...stated, answer].flatMap(numbersOf).find(isOther) ?? null
    }),
  'invents-fact'(turn, sheet, view) {
    const known = knownTo(sheet, view)
    const joined = plain(inOneNotation(known.join(' '), IN_K))
    const numbers = new Set(known.flatMap((text) => tokensOf(text).map(Number)).filter(Number.isFinite))
    // Of a known month another day may be meant, such as the next one.
    const isKnown = (one: string) =>
      (one.match(/(?<=^|\d)m\d\dd(?=\d\d)/g) ?? [one]).some((part) => joined.includes(part)) || numbers.has(Number(one))
    const past = [...inOneNotation(turn).matchAll(PAST)].map(([, one = '']) => one)
    // `#W9502127` is the known 9502127.
    const token = [...tokensOf(turn), ...past].find((one) => !isKnown(one.replace(/^[a-z](?=\d{5})/, '')))
    const named = [...turn.matchAll(NAMED)].map((found) => found.slice(1).join(''))
    return token ?? named.find((one) => !joined.includes(plain(one))) ?? null
  },
  'other-question'(turn, { facts }, { said }) {
    const last = said.at(-1)
    if (last?.by !== 'agent' || DOES_NOT_KNOW.test(turn) || turn.includes('?')) return null
    const asked = Object.entries(facts).filter(([name, fact]) => asksFor(requestOf(last.text), name, fact))
    const wanted = asked.map(([, { value }]) => value)
    const isOpen = asked.length === 0 || asked.some(([, { tell }]) => tell === 'never')
    if (isOpen || wanted.some((value) => has(turn, value))) return null
    return first(facts, ({ value }) => (!wanted.includes(value) && has(turn, value) ? value : null))
  },
}

const knownTo = ({ facts, goal }: UserSheet, { prompt, said }: UserView) =>
  [prompt, goal, Object.values(facts).map(({ value }) => value), said.map(({ text }) => text)].flat()

type Fact = UserSheet['facts'][string]
const asksFor = (text: string, name: string, fact: Fact) => [name, ...fact.names].some((one) => names(text, one))

/** Whether a text has four signs or more of a long value with digits, one after the other. */
function hasPart(text: string, value: string): boolean {
  const whole = plain(value)
  const parts = /\d/.test(whole) && whole.length > 5 ? spaced(text).split(' ') : []
  return parts.some((one) => one.length > 3 && /\d/.test(one) && whole.includes(one))
}

function first(facts: UserSheet['facts'], find: (fact: Fact, name: string) => string | null) {
  const found = Iterator.from(Object.entries(facts)).map(([name, fact]) => find(fact, name))
  return found.find((one) => one !== null) ?? null
}

/** Between words of a phrase, others may stand that change nothing. */
const escaped = (words: string) =>
  words.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/\s+/g, '\\s+(?:(?:the|my|your|a|it|on|off|all|up) )*')
const CLAIM = (words: string) => {
  const [verb = '', ...what] = words.split(' ')
  const after = `(?:after|despite|tried) ${escaped(words.replace(/ed\b/, 'ing'))}`
  const isDone = `${what.length > 0 ? escaped(what.join(' ')) : '\\w+'} (?:is|are|was|were|ha(?:s|ve) been|got)(?: \\w+)? ${escaped(verb)}`
  return new RegExp(
    `((?:^|[.?!,;\\n]|\\b(?:and|i|i['’]ve|we|done|just|already|been|was|got)\\b)[^.?!,;]{0,40}?)\\b(?:${escaped(words)}|${after}|${isDone})\\b([^.?!]*\\?)?`,
    'gi',
  )
}
const SHORTLY = /^([^.?!]*?)\b(done|did (?:it|that|so|all of that)|finished)\b(?![^.?!]*\?)/i
const NOT_DONE =
  /n['’]t\b|\b(?:not|never|nothing|should|will|would|could|can|cannot|cant|dont|havent|if|when|once|until|before|after|to|you|get|be)\b/i
const DENIED = (words: string) =>
  new RegExp(`\\b(?:not|n['’]t|never|instead of|rather than|than)\\b[^.?!]{0,25}\\b${escaped(words)}\\b`, 'i')
const STATED = (name: string) => new RegExp(`\\b${escaped(name)}\\b(?: \\w+){0,2}(?: is| was|:| =)\\s+(\\S+)`, 'i')

/** What is asked for may be named before the question: `I need your name. What is it?` */
const requestOf = (text: string) => (questionsOf(text) || REQUESTS.test(text) ? text : '')
const questionsOf = (text: string) => (text.match(/[^.?!\n]*\?/g) ?? []).join(' ')

/** Returns what can be made up: addresses, and ids and numbers of three digits or more, as letters and digits alone. */
function tokensOf(text: string): string[] {
  // A day without its year is mostly a wish.
  const noted = inOneNotation(text).replace(/\bm\d\dd\d\d(?= +(?!(?:19|20)\d\d\b))|\b[\d.]+k\b/gi, '')
  const found = noted.match(/[\w.+-]+@[\w-]+(?:\.\w+)+|#?[\w-]*\d[\w-]*(?:[.,:]\d+)*/g) ?? []
  return found
    .filter(
      (one) => one.includes('@') || one.replace(/\D/g, '').length >= 3 || /^(?=.*\d)(?=.*[A-Z])[A-Z\d]{5,}$/.test(one),
    )
    .map((one) => plain(one.replace(/\.0+$/, '')))
}

const numbersOf = (text: string) => (inOneNotation(text).match(/\S*[\d@]\S*/g) ?? []).map(plain)
const shapeOf = (token: string) => token.replace(/[a-z]+/g, 'a').replace(/\d/g, '0')
