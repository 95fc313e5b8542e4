import type { UserSheet } from './user-sheet.ts'

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
  /** The words that show it. */
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

const OUT_OF_ROLE =
  /\bas an? (?:ai\b|language model|llm|(?:virtual )?assistant)|\bi(?:['’]m| am) (?:an? )?(?:ai\b|language model|user simulat\w*|(?:virtual )?assistant|simulat\w*)|\b(?:how|what) (?:can|may) i (?:help|assist|do for) you\b|\b(?:my|the) (?:system prompt|persona|scenario|role.?play)\b|\buser simulat\w*|\bi (?:was|am|have been) (?:asked|instructed|prompted) to (?:act|play|pretend|simulate)/i
const ASKS = /\?|\b(?:please|could you|can you|would you|i(?:['’]d| would) like|i (?:want|need) (?:you )?to)\b/i
const PROMISES = /\b(?:let me|i(?:['’]ll| will)|one moment|please hold|give me a)\b/i
const AGREES = /\b(?:yes|yep|sure|go ahead|confirm)/i
const ELSE = /\b(?:anything|something) else|\bfurther|\bother (?:request|question)/i
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
    const early = agentSaid === undefined || ASKS.test(rest) || agrees || PROMISES.test(agentSaid)
    return early ? word : null
  },
  'gives-up'(turn, { stop }, { said }) {
    const agent = said.filter(({ by }) => by === 'agent')
    if (agent.length >= stop.giveUpAfter || /transfer/i.test(agent.at(-1)?.text ?? '')) return null
    return stop.giveUp.find((one) => turn.toLowerCase().includes(one.toLowerCase())) ?? null
  },
  reveals: (turn, { facts }, { said }) =>
    first(facts, ({ value, tell, names }, name) => {
      const isKept = tell !== 'freely' && !said.some(({ by, text }) => by !== 'user' && has(text, value))
      const isAsked = said.some(({ by, text }) => by === 'agent' && [name, ...names].some((one) => has(text, one)))
      return isKept && !(tell === 'asked' && isAsked) && has(turn, value) ? value : null
    }),
  'claims-undone'(turn, { claims }, { done }) {
    const undone = Object.entries(claims).filter(([tool]) => !done.has(tool))
    const said = (words: string) => [...turn.matchAll(CLAIM(words))]
    const isClaimed = (words: string) => said(words).some(([, before = '', asks]) => !asks && !NOT_DONE.test(before))
    return undone.flatMap(([, words]) => words).find(isClaimed) ?? null
  },
  contradicts: (turn, { facts }) =>
    first(facts, ({ value, names, not }, name) => {
      const other = not.find((one) => has(turn, one) && !has(turn, value) && !DENIED(one).test(turn))
      if (other !== undefined) return other
      const token = tokensOf(value)[0]
      if (token === undefined || has(turn, value)) return null
      const own = Object.values(facts).flatMap((fact) => tokensOf(fact.value))
      return (
        [name, ...names]
          .flatMap((one) => STATED(one).exec(turn)?.[1] ?? [])
          .find((stated) => {
            const [found] = tokensOf(stated)
            return found !== undefined && !own.includes(found) && shapeOf(found) === shapeOf(token)
          }) ?? null
      )
    }),
  'invents-fact'(turn, { facts, goal }, { prompt, said }) {
    const known = [prompt, goal, ...Object.values(facts).map(({ value }) => value), ...said.map(({ text }) => text)]
    const joined = plain(known.join(' '))
    const numbers = new Set(known.flatMap((text) => tokensOf(text).map(Number)).filter(Number.isFinite))
    const token = tokensOf(turn).find((one) => !joined.includes(one) && !numbers.has(Number(one)))
    if (token !== undefined) return token
    const name = /\b(?:my name is|i am|i['’]m|this is)\s+([A-Z][a-z]+ [A-Z][a-z]+)/i.exec(turn)?.[1]
    return name && /^[A-Z]\w* [A-Z]/.test(name) && !joined.includes(plain(name)) ? name : null
  },
  'other-question'(turn, { facts }, { said }) {
    const last = said.at(-1)
    if (last?.by !== 'agent' || DOES_NOT_KNOW.test(turn)) return null
    // What is asked for may be named before the question: `I need your name. What is it?`
    const questions = questionsOf(last.text) && last.text
    const asked = Object.entries(facts).filter(([name, { names }]) =>
      [name, ...names].some((one) => has(questions, one)),
    )
    const [[, wanted] = []] = asked
    if (asked.length !== 1 || !wanted || wanted.tell === 'never' || has(turn, wanted.value)) return null
    return first(facts, ({ value }) => (value !== wanted.value && has(turn, value) ? value : null))
  },
}

function first(facts: UserSheet['facts'], find: (fact: UserSheet['facts'][string], name: string) => string | null) {
  for (const [name, fact] of Object.entries(facts)) {
    const found = find(fact, name)
    if (found !== null) return found
  }
  return null
}

const escaped = (words: string) => words.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/\s+/g, '\\s+')
const CLAIM = (words: string) =>
  new RegExp(`([^.?!,]{0,25}\\b(?:i|done|just|already)\\b[^.?!]{0,40})\\b${escaped(words)}\\b([^.?!]*\\?)?`, 'gi')
const NOT_DONE = /n['’]t\b|\b(?:not|never|should|will|would|could|can|if|when|once|before|after|going to|want to)\b/i
const DENIED = (words: string) =>
  new RegExp(`\\b(?:not|n['’]t|never|instead of|rather than|than|from)\\b[^.?!]{0,25}\\b${escaped(words)}\\b`, 'i')
const STATED = (name: string) => new RegExp(`\\b${escaped(name)}\\b(?: \\w+){0,2}(?: is| was|:| =)\\s+(\\S+)`, 'i')

/** Returns the sentences of a text that ask something. */
function questionsOf(text: string): string {
  return (text.match(/[^.?!\n]*\?/g) ?? []).join(' ')
}

/** Returns what can be made up: addresses, and ids and numbers of three digits or more, as letters and digits alone. */
function tokensOf(text: string): string[] {
  const found = text.match(/[\w.+-]+@[\w-]+(?:\.\w+)+|#?[\w-]*\d[\w-]*(?:[.,:]\d+)*/g) ?? []
  return found
    .filter(
      (one) => one.includes('@') || one.replace(/\D/g, '').length >= 3 || /^(?=.*\d)(?=.*[A-Z])[A-Z\d]{5,}$/.test(one),
    )
    .map((one) => plain(one.replace(/\.0+$/, '')))
}

function shapeOf(token: string): string {
  return token.replace(/[a-z]+/g, 'a').replace(/\d/g, '0')
}

/** Whether a text has words, whatever stands between them. */
function has(text: string, words: string): boolean {
  return ` ${spaced(text)} `.includes(` ${spaced(words)} `)
}

const spaced = (text: string) =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\d]+/gu, ' ')
    .trim()
const plain = (text: string) => text.toLowerCase().replace(/[^\p{L}\d]+/gu, '')

/** Words to the user, which nobody says of itself. */
function repeatedPrompt(turn: string, prompt: string): string | null {
  const words = spaced(turn).split(' ')
  const given = ` ${spaced(prompt)} `
  for (let at = 0; at + REPEATED_WORDS <= words.length; at++) {
    const run = words.slice(at, at + REPEATED_WORDS).join(' ')
    if (/\byour?\b/.test(run) && given.includes(` ${run} `)) return run
  }
  return null
}
