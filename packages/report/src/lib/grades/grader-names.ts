import type { GraderRef } from './grade-record.ts'

export interface NamedGrader {
  readonly key: string
  readonly grader: GraderRef
  readonly models: readonly string[]
}

/**
 * Names graders for readers, by their keys: a person `polite by ada`, a judge with its model `polite · gpt-5`, and a
 * function by its name alone. Those that are still equal have their version and the start of their hash.
 */
export function graderNames(graders: readonly NamedGrader[]): ReadonlyMap<string, string> {
  const short = graders.map(({ grader: { name, who }, models }) =>
    who !== undefined ? `${name} by ${who}` : [name, models.join(', ')].filter(Boolean).join(' · '),
  )
  return new Map(
    graders.map(({ key, grader: { version, sha256 } }, i) => {
      const name = short[i] as string
      const isAlone = short.filter((other) => other === name).length === 1
      return [key, isAlone ? name : `${name} (${version}, ${sha256.slice(0, 6)})`]
    }),
  )
}
