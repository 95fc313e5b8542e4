import type { JsonObject } from '@episodic/protocol'

/** Fields that mean the same, of which a server reads one. */
const SAME = ['max_tokens', 'max_completion_tokens', 'max_output_tokens']

/**
 * Returns a request with the options of a run in the place of what it asks; `null` takes a field out. Nor is the same
 * asked under another name.
 */
export function withOptions<Body extends object>(options: JsonObject, body: Body): Body {
  const others = SAME.some((name) => name in options) ? SAME : []
  const given = Object.entries({ ...body, ...options }).filter(([name, value]) =>
    name in options ? value !== null : !others.includes(name),
  )
  return Object.fromEntries(given) as Body
}
