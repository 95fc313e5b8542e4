export type { ModelEndpoint } from './lib/llm/model-endpoint.ts'
export { createModelInterpreter, type ModelInterpreterOptions } from './lib/llm/model-interpreter.ts'
export { createModelReplyWriter, type ModelReplyWriterOptions } from './lib/llm/model-reply-writer.ts'
export { createModelSpeaker, type ModelSpeakerOptions } from './lib/llm/model-speaker.ts'
