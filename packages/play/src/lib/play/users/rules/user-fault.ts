import type { UserSheet } from '../user-sheet.ts'
import { has, IN_K, inOneNotation, names, plain, spaced } from './notations.ts'

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

/** The conversation before a turn, as the user has it. */
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

/** It speaks as a model, or of what it plays; as the agent; of itself as somebody else. */
const OUT_OF_ROLE = new RegExp(
  [
    "(?:as|i(?:['’]m| am|['’]ll be)) an? (?:ai\\b|(?:large )?language model|llm|chat ?bot|(?:virtual |digital )?assistant)",
    "(?:as an? |i(?:['’]m| am) (?:an? )?)(?:user )?simulat\\w+|(?:user|customer) simulat\\w*|the simulation",
    'my (?:system prompt|prompt|instructions?|script|scenario|persona|role)|(?:the|this) (?:system prompt|prompt|script|scenario|persona|role.?play)',
    "i(?:['’]m| am) (?:playing|pretending|acting as|role.?playing)|(?:in|of|break(?:ing)?) character",
    "i(?:['’]m| was| am| have been) (?:asked|instructed|prompted|supposed|programmed) to (?:act|play|pretend|simulate|role|write|not )",
    "(?:how|what) (?:can|may) i (?:help|assist|do for) you|else (?:that )?i can (?:help|assist|do for) you|i(?:['’]d| would) be (?:happy|glad) to (?:help|assist)",
    'thank(?:s| you) for (?:calling|contacting)|i can help you with|let me (?:look|pull|check|verify|find)[^.?!]{0,15} your',
    "(?:i|we)(?:['’]ve| have) (?:processed|cancell?ed|refunded|updated|issued|located|reset|activated) your",
    'your (?:refund|request|order|booking|reservation|account|claim) (?:has been|was) (?:processed|updated|cancell?ed|issued|approved)',
    'the (?:user|customer|caller) (?:wants?|would|says?|should|needs?)',
  ]
    .map((one) => `\\b(?:${one})\\b`)
    .join('|'),
  'i',
)
const ASKS = /\?|\b(?:please|could you|can you|would you|i(?:['’]d| would) like|i (?:want|need) (?:you )?to)\b/i
const REQUESTS = /\b(?:tell|give|send|provide|confirm|need)\b/i
const PROMISES =
  /\b(?:let me (?!know)|i(?:['’]ll| will) (?!be (?:here|happy|glad)|help|assist)|one moment|please hold|give me a)\b/i
const AGREES =
  /\b(?:yes|yep|sure|go ahead|confirm|perfect|sounds good|do it|(?:that['’]s|that is) (?:right|fine|correct))/i
const ELSE =
  /\b(?:(?:any|some)thing else|further|(?:other|more) (?:request|question)|(?:answer|solve|resolve)\b|helpful|satisf)/i
const DOES_NOT_KNOW =
  /\b(?:don['’]t|do not|can['’]t|cannot|not) (?:know|remember|have|find|sure|recall|see)|\bno idea\b/i
/** Words of a prompt that are repeated to the agent. */
const REPEATED_WORDS = 9

const RULES: Record<UserFaultKind, Rule> = {
  'leaves-role': (turn, _, { prompt }) => OUT_OF_ROLE.exec(turn)?.[0] ?? repeatedPrompt(turn, prompt),
  'stops-early'(turn, { stop }, { said }) {
    const word = stop.words.find((one) => turn.includes(one))
    if (word === undefined) return null
    const agentSaid = said.findLast(({ by }) => by === 'agent')?.text
    const rest = turn.replaceAll(word, ' ')
    const agrees =
      agentSaid !== undefined && questionsOf(agentSaid) !== '' && !ELSE.test(agentSaid) && AGREES.test(rest)
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
  contradicts: (turn, { facts }, { said }) =>
    first(facts, (fact, name) => {
      const { value, not } = fact
      if (has(turn, value)) return null
      const agent = said.findLast(({ by }) => by === 'agent')?.text ?? ''
      // A digit alone is a value only where the fact is spoken of.
      const isOf = (one: string) => one.length > 2 || asksFor(turn, name, fact) || asksFor(agent, name, fact)
      const other = not.find((one) => has(turn, one) && isOf(one) && !DENIED(one).test(turn))
      if (other !== undefined) return other
      const token = tokensOf(value)[0]
      if (token === undefined) return null
      const own = Object.values(facts).flatMap((one) => tokensOf(one.value))
      return (
        [name, ...fact.names]
          .flatMap((one) => STATED(one).exec(inOneNotation(turn))?.[1] ?? [])
          .find((stated) => {
            const [found] = tokensOf(stated)
            return found !== undefined && !own.includes(found) && shapeOf(found) === shapeOf(token)
          }) ?? null
      )
    }),
  'invents-fact'(turn, { facts, goal }, { prompt, said }) {
    const known = [prompt, goal, ...Object.values(facts).map(({ value }) => value), ...said.map(({ text }) => text)]
    const joined = plain(inOneNotation(known.join(' '), IN_K))
    const numbers = new Set(known.flatMap((text) => tokensOf(text).map(Number)).filter(Number.isFinite))
    // Of a known month another day may be meant, such as the next one.
    const isKnown = (one: string) =>
      (one.match(/(?<=^|\d)m\d\dd(?=\d\d)/g) ?? [one]).some((part) => joined.includes(part)) || numbers.has(Number(one))
    const token = tokensOf(turn).find((one) => !isKnown(one))
    if (token !== undefined) return token
    const name = /\b(?:my name is|i am|i['’]m|this is)\s+([A-Z][a-z]+ [A-Z][a-z]+)/i.exec(turn)?.[1]
    return name && /^[A-Z]\w* [A-Z]/.test(name) && !joined.includes(plain(name)) ? name : null
  },
  'other-question'(turn, { facts }, { said }) {
    const last = said.at(-1)
    if (last?.by !== 'agent' || DOES_NOT_KNOW.test(turn) || turn.includes('?')) return null
    // What is asked for may be named before the question: `I need your name. What is it?`
    const questions = (questionsOf(last.text) || REQUESTS.exec(last.text)) && last.text
    const asked = Object.entries(facts).filter(([name, fact]) => asksFor(questions || '', name, fact))
    const wanted = asked.map(([, { value }]) => value)
    const isOpen = asked.length === 0 || asked.some(([, { tell }]) => tell === 'never')
    if (isOpen || wanted.some((value) => has(turn, value))) return null
    return first(facts, ({ value }) => (!wanted.includes(value) && has(turn, value) ? value : null))
  },
}

type Fact = UserSheet['facts'][string]
const asksFor = (text: string, name: string, fact: Fact) => [name, ...fact.names].some((one) => names(text, one))

/** Whether a text has four signs or more of a long value with digits, one after the other. */
function hasPart(text: string, value: string): boolean {
  const whole = plain(value)
  const parts = /\d/.test(whole) && whole.length > 5 ? spaced(text).split(' ') : []
  return parts.some((one) => one.length > 3 && /\d/.test(one) && whole.includes(one))
}

function first(facts: UserSheet['facts'], find: (fact: Fact, name: string) => string | null) {
  for (const [name, fact] of Object.entries(facts)) {
    const found = find(fact, name)
    if (found !== null) return found
  }
  return null
}

/** Between words of a phrase, others may stand that change nothing. */
const escaped = (words: string) =>
  words.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/\s+/g, '\\s+(?:(?:the|my|your|a|it|on|off|all|up) )*')
const CLAIM = (words: string) =>
  new RegExp(
    `((?:^|[.?!,;\\n]|\\b(?:and|i|i['’]ve|we|done|just|already|been|was|got)\\b)[^.?!]{0,40}?)\\b${escaped(words)}\\b([^.?!]*\\?)?`,
    'gi',
  )
const SHORTLY = /^([^.?!]*?)\b(done|did (?:it|that|so|all of that)|finished)\b(?![^.?!]*\?)/i
const NOT_DONE =
  /n['’]t\b|\b(?:not|never|nothing|should|will|would|could|can|cannot|cant|dont|havent|if|when|once|until|before|after|to|you|get|be)\b/i
const DENIED = (words: string) =>
  new RegExp(`\\b(?:not|n['’]t|never|instead of|rather than|than|from)\\b[^.?!]{0,25}\\b${escaped(words)}\\b`, 'i')
const STATED = (name: string) => new RegExp(`\\b${escaped(name)}\\b(?: \\w+){0,2}(?: is| was|:| =)\\s+(\\S+)`, 'i')

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

const shapeOf = (token: string) => token.replace(/[a-z]+/g, 'a').replace(/\d/g, '0')

/** Words to the user, which nobody says of itself, but for what the prompt has it say, in quotes. */
function repeatedPrompt(turn: string, prompt: string): string | null {
  const words = spaced(turn).split(' ')
  const given = ` ${spaced(prompt.replace(/(?<!\w)(['"“‘]).{9,}?['"”’](?!\w)/g, ' … '))} `
  for (let at = 0; at + REPEATED_WORDS <= words.length; at++) {
    const run = words.slice(at, at + REPEATED_WORDS).join(' ')
    if (/\byour?\b/.test(run) && given.includes(` ${run} `)) return run
  }
  return null
}
