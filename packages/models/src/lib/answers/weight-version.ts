import type { Completion, JsonObject } from '@episodic/protocol'
import { isObject } from '@episodic/protocol/internal'

/**
 * Returns the oldest version of the weights that wrote an answer, or a part of a stream, and if there are several, the
 * tokens of each; nothing if the server named none. SGLang says the version at the end of the answer, and in newer
 * releases the tokens of each version.
 */
export function weightVersionsOf(answer: JsonObject): Pick<Completion, 'policyVersion' | 'policyVersions'> {
  const [oldest, ...others] = versionsIn(answer.sglext) ?? versionsIn(answer.metadata) ?? []
  if (!oldest) return {}
  const areCounted = [oldest, ...others].every(([, tokens]) => tokens >= 0)
  return { policyVersion: oldest[0], ...(others.length > 0 && areCounted && { policyVersions: [oldest, ...others] }) }
}

function versionsIn(weights: unknown): [version: string, tokens: number][] | null {
  if (!isObject(weights)) return null
  const { weight_version: version, weight_versions: all } = weights
  const [spans, last] = [Array.isArray(all) ? all : [], [{ version }]].map((each) => each.flatMap(readSpan))
  return spans?.length ? spans : last?.length ? last : null
}

function readSpan(span: unknown): [version: string, tokens: number][] {
  const { version, start, end } = (isObject(span) ? span : {}) as Record<string, unknown>
  // Servers say `default` until they are given one.
  const isNamed = Number.isSafeInteger(version) || (typeof version === 'string' && !/^(default)?$/.test(version))
  return isNamed ? [[String(version).toWellFormed(), Number(end) - Number(start)]] : []
}
