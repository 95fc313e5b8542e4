/**
 * The part of what the other packages share that a start of the command needs: it imports no shape of the wire or of a
 * record. It carries no promise: any release may change or remove it.
 *
 * @module
 * @internal
 */

export { abortable, afterThisTurn, every, monotonic, pause } from './lib/base/clock.ts'
export { CodedError } from './lib/base/coded-error.ts'
export { formatZodError } from './lib/base/format-zod-error.ts'
export {
  copyJson,
  copyPlain,
  isObject,
  jsonObjectSchema,
  mapTexts,
  parsedObjectSchema,
  toText,
  wellFormed,
} from './lib/base/json.ts'
export { editDistance, findNearest } from './lib/base/nearest-name.ts'
export { onAbort } from './lib/base/on-abort.ts'
export { drawSecret, randomText } from './lib/base/random-text.ts'
export type { SavableRng } from './lib/base/rng.ts'
export { lastOf, shorten, shortenMiddle } from './lib/base/shorten.ts'
export { NORMAL_POINTS, studentPoint } from './lib/base/student-t.ts'
export { encodingOf } from './lib/base/text-encoding.ts'
export { findUnknownKeys, formatUnknownKeys } from './lib/base/unknown-keys.ts'
