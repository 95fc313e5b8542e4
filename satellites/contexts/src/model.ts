export type { ModelEndpoint } from './lib/llm/model-endpoint.ts'
export { createModelInterpreter } from './lib/llm/model-interpreter.ts'
export { createModelReplyWriter } from './lib/llm/model-reply-writer.ts'
export { createModelSpeaker } from './lib/llm/model-speaker.ts'
