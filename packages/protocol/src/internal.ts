/**
 * What the other packages of this repository share. It carries no promise: any release may change or remove it.
 *
 * @module
 * @internal
 */

export * from './base.ts'
export { leaveOut } from './lib/base/hash-of-part.ts'
export { missingPackage } from './lib/base/missing-package.ts'
export { completionSchema, type RecordedCall } from './lib/record/completion.ts'
export { withoutAttachedData } from './lib/record/episode-chain.ts'
export type { Origin } from './lib/record/sealed-line.ts'
export type { SeatResult, SeatView } from './lib/record/seat-views.ts'
export { answerMessage, resultMessage } from './lib/record/transcript.ts'
export type { MessageReference } from './lib/record/transcript-schema.ts'
export { attachmentOf, withAttachmentNotes } from './lib/wire/attachment.ts'
export { type ContentPart, contentPartSchema, contentParts, readContent } from './lib/wire/content.ts'
export { withDataLine, withoutDataLine, withoutDataLines } from './lib/wire/data-line.ts'
export { judgementOf, type StopReason, stopReasonOf, truncationOf } from './lib/wire/end-reasons.ts'
export type { EventInfo } from './lib/wire/environment-info.ts'
export { episodeEndSchema } from './lib/wire/episode-end.ts'
export { eventTexts } from './lib/wire/event-texts.ts'
export { WIRE_VERSION } from './lib/wire/extension.ts'
export { MOST_ANSWER_BYTES } from './lib/wire/limits.ts'
export { ENVELOPE, isTyped, MODERN_VERSION, markTyped } from './lib/wire/mcp.ts'
export { mediaTypeOf, readBase64, toBase64 } from './lib/wire/media.ts'
export { type ResourceInText, resourceInTextSchema } from './lib/wire/observation.ts'
export type { AppliedEvent, OutsideHistory } from './lib/wire/outside-event.ts'
export { parseParams } from './lib/wire/parse-params.ts'
export { findWireErrorCode, invalidParams, WIRE_ERROR_NUMBERS } from './lib/wire/wire-error.ts'
