export type { ModelEndpoint } from './lib/llm/model-endpoint.ts'
export { createModelInterpreter } from './lib/llm/model-interpreter.ts'
