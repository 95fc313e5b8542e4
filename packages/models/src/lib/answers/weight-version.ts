import type { JsonObject } from '@episodic/protocol'
import { isObject } from '@episodic/protocol/internal'

/**
 * Returns the version of the weights that wrote the first token of an answer, or of a part of a stream, which is the
 * oldest one; `null` if the server named none. SGLang says the version at the end of the answer, and in newer releases
 * the tokens of each version.
 */
export function weightVersionOf({ sglext, metadata }: JsonObject): string | null {
  return oldestOf(sglext) ?? oldestOf(metadata)
}

function oldestOf(weights: unknown): string | null {
  if (!isObject(weights)) return null
  const { weight_version: last, weight_versions: all } = weights
  const [first] = Array.isArray(all) ? all : []
  return (isObject(first) ? versionIn(first.version) : null) ?? versionIn(last)
}

/** Servers say `default` until they are given one. */
function versionIn(name: unknown): string | null {
  if (Number.isSafeInteger(name)) return String(name)
  return typeof name === 'string' && name !== '' && name !== 'default' ? name.toWellFormed() : null
}
