/**
 * What the other packages of this repository share. It carries no promise: any release may change or remove it.
 *
 * @module
 * @internal
 */

export { abortable, afterThisTurn, every, monotonic, pause } from './lib/clock.ts'
export { CodedError } from './lib/coded-error.ts'
export { completionSchema, type PooledRequest, type RecordedCall } from './lib/completion.ts'
export { stopReasonOf, truncationOf } from './lib/end-reasons.ts'
export { episodeEndSchema } from './lib/episode-end.ts'
export { WIRE_VERSION } from './lib/extension.ts'
export { formatZodError } from './lib/format-zod-error.ts'
export { copyPlain, isObject, mapTexts, parsedObjectSchema, wellFormed } from './lib/json.ts'
export { ENVELOPE, MODERN_VERSION } from './lib/mcp.ts'
export { parseConfigText, parseMcpConfig, urlEntrySchema } from './lib/mcp-config.ts'
export { nearestOf } from './lib/nearest-name.ts'
export { onAbort } from './lib/on-abort.ts'
export { parseParams } from './lib/parse-params.ts'
export { drawSecret, randomText } from './lib/random-text.ts'
export type { SavableRng } from './lib/rng.ts'
export { readServerLine, readServerResult } from './lib/server-answer.ts'
export { lastOf, shorten, shortenMiddle } from './lib/shorten.ts'
export { NORMAL_POINTS, studentPoint } from './lib/student-t.ts'
export { answerMessage, resultMessage } from './lib/transcript.ts'
export type { MessageReference } from './lib/transcript-schema.ts'
export { isTyped, markTyped } from './lib/typed-channel.ts'
export { describeUnknownKeys, findUnknownKeys } from './lib/unknown-keys.ts'
export { withoutDataLine, withUnsaidData } from './lib/unsaid-data.ts'
export { WIRE_ERROR_NUMBERS, wireErrorCodeOf } from './lib/wire-error.ts'
