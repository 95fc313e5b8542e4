import { ServerError } from '../server-error.ts'

/**
 * Throws `rules-failed` where code of `who` has added a key to `Object.prototype`, after it has taken the key away: every
 * object of the process would have it, and every schema that takes no other keys would refuse what it is given. Looks at keys
 * that `for…in` finds; it costs next to nothing where there are none.
 */
export function assertPrototypeUntouched(who: string): void {
  for (const key in EMPTY) throw shared(who, key)
}

const EMPTY = {}

function shared(who: string, key: string): ServerError {
  for (const added of Object.keys(Object.prototype)) Reflect.deleteProperty(Object.prototype, added)
  return new ServerError(
    'rules-failed',
    `The code of ${who} added "${key}" to Object.prototype, which all environments of this process share. It was taken away again. Keep it in the state.`,
  )
}
