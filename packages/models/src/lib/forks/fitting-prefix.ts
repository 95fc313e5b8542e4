import { canonicalJson, type JsonObject } from '@episodic/protocol'
import { linkCalls } from '@episodic/report/fold/token-tree'
import { objectOf } from '@episodic/run/base/json'
import type { JournalEntry } from '../journal/model-journal.ts'

export interface WorldStep {
  readonly tool: string
  readonly arguments: JsonObject
  readonly text: string
}

type Entries = readonly JournalEntry[]

/**
 * Finds the kept answers that led to the first steps of an episode: one way of answers, each of which goes on from
 * exactly the tokens of the one before it, whose calls are the steps in their order, and which read what the world
 * answered. Returns the answers, or a sentence that says why none fit.
 *
 * @param isEnd - whether the steps are all: then the last answer may have further calls, which the world never took.
 */
export function findFittingPrefix(entries: Entries, steps: readonly WorldStep[], isEnd = false): Entries | string {
  if (steps.length === 0) return []
  const links = linkCalls(entries.map(({ answer }) => answer.completion))
  const goesOn = new Set(links.map(({ parent }) => parent))
  let problem = 'It has no answers that call tools.'
  let furthest = -1
  // Of answers to one request, the one that the agent went on from led to the steps; else the last one.
  const ends = [...entries.keys()].sort(
    (one, other) => Number(goesOn.has(other)) - Number(goesOn.has(one)) || other - one,
  )
  for (const end of ends) {
    if (callsOf(entries[end] as JournalEntry).length === 0) continue
    const way: JournalEntry[] = []
    for (let at: number | null = end; at !== null; at = links[at]?.parent ?? null)
      way.unshift(entries[at] as JournalEntry)
    // What came after the fork says what the world had answered before it.
    const later = () => entries.filter((_, i) => links[i]?.parent === end)
    const found = problemOf(way, later, steps, isEnd)
    if (found === null) return way
    if (found.at > furthest) [furthest, problem] = [found.at, found.problem]
  }
  return problem
}

/** Calls whose arguments cannot be read were never steps. */
export function callsOf({ answer }: JournalEntry) {
  return answer.calls.flatMap(({ name, arguments: args }) => {
    const read = objectOf(args === '' ? '{}' : args)
    return read ? [{ name, text: canonicalJson(read) }] : []
  })
}

/** Returns why a way does not lead to the steps, and after how many of them; `null` if it does. */
function problemOf(way: Entries, later: () => Entries, steps: readonly WorldStep[], isEnd: boolean) {
  const calls = way.map(callsOf)
  const isOfLast = calls.slice(0, -1).flat().length < steps.length
  for (const [at, { name, text }] of calls.flat().entries()) {
    const step = steps[at]
    if (!step && isEnd && isOfLast) break
    if (!step)
      return { at, problem: `An answer goes on after step ${at} with a further call. Fork before or after it.` }
    const wanted = canonicalJson(step.arguments)
    // Agents name tools after their server: mcp__world__guess.
    if ((name === step.tool || name.endsWith(`__${step.tool}`)) && text === wanted) continue
    const problem = `Step ${at + 1} of the world is ${step.tool} ${wanted}, and the answers call ${name} ${text}.`
    return { at, problem }
  }
  let at = calls.flat().length
  if (at < steps.length) return { at, problem: `The answers lead to step ${at}, and the world has ${steps.length}.` }
  // Requests are long, so they are read where the calls are right.
  const after = later().map((entry) => findUnread(entry, steps))
  if (after.length > 0 && !after.includes(null))
    return { at, problem: `What the world answered to step ${Number(after[0]) + 1} is not in the request after it.` }
  at = 0
  for (const [i, entry] of way.entries()) {
    const { promptTokenIds, tokenIds, logProbabilities } = entry.answer.completion
    if (!promptTokenIds || !tokenIds || logProbabilities?.length !== tokenIds.length)
      return { at, problem: `The answer before step ${at + 1} has no tokens, or no log-probability of one.` }
    const unread = findUnread(entry, steps.slice(0, at))
    if (unread !== null)
      return { at, problem: `What the world answered to step ${unread + 1} is not in the request for step ${at + 1}.` }
    at += calls[i]?.length ?? 0
  }
  return null
}

/** Returns the first step whose answer a request does not have, in their order; `null` if it has all. */
function findUnread({ asked }: JournalEntry, steps: readonly WorldStep[]): number | null {
  const read = spaced(JSON.stringify((asked?.messages ?? []).map(({ content }) => content)))
  let from = 0
  for (const [i, { text }] of steps.entries()) {
    const written = spaced(JSON.stringify(text).slice(1, -1))
    const found = read.indexOf(written, from)
    if (found < 0) return i
    from = found + written.length
  }
  return null
}

/** Agents change the spaces of what they send. */
function spaced(text: string): string {
  return text.replaceAll(/(\\[nrt]|\s)+/g, ' ').trim()
}
