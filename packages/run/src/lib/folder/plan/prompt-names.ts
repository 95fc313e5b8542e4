import { asksModels } from '../../base/player-names.ts'
import type { RunConfiguration } from './configuration.ts'

/** Characters of a prompt that stand for it. */
const MOST_CHARACTERS = 32
/** From so many characters that two prompts share at their beginning, their names begin where they differ. */
const LONG_BEGINNING = 16

/**
 * Names prompts by their first words, and those that begin alike by the words from which they differ; `null` for the
 * usual words.
 */
export function namesOfPrompts(prompts: readonly (string | null)[]): (prompt: string | null) => string {
  const sorted = [...new Set(prompts.map((prompt) => toLine(prompt ?? '')))].sort()
  return (prompt) => {
    if (prompt === null) return 'usual prompt'
    const line = toLine(prompt)
    const place = sorted.indexOf(line)
    const shared = Math.max(...[place - 1, place + 1].map((next) => sharedBeginning(line, sorted[next] ?? '')))
    // One that ends where another goes on is named by its end.
    const start = shared === line.length ? Math.max(0, shared - MOST_CHARACTERS + 1) : line.lastIndexOf(' ', shared) + 1
    const own = shared < LONG_BEGINNING || start === 0 ? line : `…${line.slice(start)}`
    const cut = own.length > MOST_CHARACTERS ? `${own.slice(0, MOST_CHARACTERS - 1).trimEnd()}…` : own
    return cut === '' ? 'no prompt' : `“${cut}”`
  }
}

/** Names the prompt of each run whose policies another run has too, with another prompt; `undefined` for others. */
export function promptsOfRuns(configurations: readonly RunConfiguration[]): (string | undefined)[] {
  const runs = configurations.map((configuration) => ({
    prompt: configuration.sampling?.systemPrompt ?? null,
    policies: JSON.stringify(asksModels(configuration) && [configuration.policy, configuration.seats]),
  }))
  const name = namesOfPrompts(runs.map(({ prompt }) => prompt))
  const groups = Map.groupBy(runs, ({ policies }) => policies)
  return runs.map(({ prompt, policies }) =>
    groups.get(policies)?.some((other) => other.prompt !== prompt) ? name(prompt) : undefined,
  )
}

function toLine(prompt: string): string {
  return prompt.replace(/\s+/g, ' ').trim()
}

function sharedBeginning(one: string, other: string): number {
  let length = 0
  while (length < one.length && one[length] === other[length]) length += 1
  return length
}
