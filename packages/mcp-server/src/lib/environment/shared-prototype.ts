import { ServerError } from '../server-error.ts'

/**
 * Removes keys that the code of `who` added to `Object.prototype` and throws `rules-failed` if there were any: every
 * object of the process would have them, and every strict schema would reject its input. Finds the keys that `for…in`
 * finds, and costs almost nothing if there are none.
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
