import type { World } from '../worlds/world.ts'

/** What stands at the trainer endpoint alone, as keys of JSON. */
const TRAINER_KEYS = ['reward', 'rewards', 'terms', 'seed', 'potential', 'reason']

/** Finds what no player may receive: keys of the trainer endpoint, reward terms with their values, and seeds. */
export function findLeaks(received: string, { environment }: World, seeds: readonly string[]): string[] {
  // Texts of tools may have JSON in them, with its quotes escaped.
  const plain = received.replaceAll('\\"', '"')
  const keys = TRAINER_KEYS.filter((key) => plain.includes(`"${key}":`)).map((key) => `the key "${key}"`)
  // A name that a world's answers declare is public there.
  const declared = JSON.stringify(environment.toolInfos)
  const terms = environment.terms
    .filter((term) => !declared.includes(`"${term}":`))
    .filter((term) => new RegExp(`"${term}": *-?\\d`).test(plain))
    .map((term) => `the reward term ${term}`)
  return [...keys, ...terms, ...seeds.filter((seed) => plain.includes(seed)).map(() => 'the seed of a session')]
}
