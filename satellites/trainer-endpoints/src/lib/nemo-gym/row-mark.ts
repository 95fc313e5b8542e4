import { canonicalJson, contentId, type Json, type JsonObject, WireError } from '@episodic/protocol'

/** Members that a row can have: each takes three characters of a cookie. */
const MOST_MEMBERS = 256

/** Hexadecimal digits of a digest. */
const DIGEST = 32

/**
 * Returns the mark of a row of a dataset: a digest of its members, and after it three characters for the name of each.
 *
 * It distinguishes the `verify` of an agent from a call of its model: a model that calls a tool named `verify` reaches
 * the same route with the same cookie and can send any body, but does not know the row. Members of `null` are left out,
 * because clients fill them in.
 *
 * Throws `invalid-params` for a row of more than 256 members.
 */
export function rowMark(row: JsonObject): string {
  const members = Object.entries(row).filter(([, value]) => value !== null)
  if (members.length > MOST_MEMBERS)
    throw new WireError('invalid-params', `This row has ${members.length} members; it can have ${MOST_MEMBERS}.`)
  const names = members.map(([name]) => nameMark(name)).sort()
  return digestOf(members) + names.join('')
}

/** Returns whether a body has the members of the row with this mark. A client may have added others. */
export function isOfRow(body: JsonObject, mark: string): boolean {
  const names = new Set(mark.slice(DIGEST).match(/.{3}/g))
  return digestOf(Object.entries(body).filter(([name]) => names.has(nameMark(name)))) === mark.slice(0, DIGEST)
}

function nameMark(name: string): string {
  return Buffer.from(contentId(name), 'hex').toString('base64url').slice(0, 3)
}

function digestOf(members: readonly (readonly [string, Json])[]): string {
  return contentId(canonicalJson(withoutNulls(Object.fromEntries(members))))
}

function withoutNulls(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (typeof value !== 'object' || value === null) return value
  const kept = Object.entries(value).filter(([, member]) => member !== null)
  return Object.fromEntries(kept.map(([name, member]) => [name, withoutNulls(member as Json)]))
}
