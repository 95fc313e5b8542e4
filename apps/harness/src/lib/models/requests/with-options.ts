import type { JsonObject } from '@episodic/protocol'

/** Returns a request with the options of a run in the place of what it asks; `null` takes a field out. */
export function withOptions<Body extends object>(options: JsonObject, body: Body): Body {
  const given = Object.entries({ ...body, ...options }).filter(([name, value]) => value !== null || !(name in options))
  return Object.fromEntries(given) as Body
}
