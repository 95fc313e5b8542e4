export type { ModelEndpoint } from './lib/model-endpoint.ts'
export { createModelInterpreter, type ModelInterpreterOptions } from './lib/model-interpreter.ts'
export { createModelReplyWriter, type ModelReplyWriterOptions } from './lib/model-reply-writer.ts'
export { createModelSpeaker, type ModelSpeakerOptions } from './lib/model-speaker.ts'
