import type { GraderFigures } from './grade-summary.ts'

/**
 * Names graders for readers, by their keys: with the person, and with the version, kind and start of the hash if other graders
 * have the same name.
 */
export function graderNames(graders: readonly Pick<GraderFigures, 'key' | 'grader'>[]): ReadonlyMap<string, string> {
  const others = graders.filter(({ grader }) => grader.who === undefined)
  return new Map(
    graders.map(({ key, grader: { name, who, version, sha256, kind } }) => {
      if (who !== undefined) return [key, `${name} by ${who}`]
      const same = others.filter(({ grader }) => grader.name === name)
      return [key, same.length > 1 ? `${name}@${version} ${kind} ${sha256.slice(0, 6)}` : name]
    }),
  )
}
