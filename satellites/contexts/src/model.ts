export { createModelInterpreter } from './lib/llm/model-interpreter.ts'
