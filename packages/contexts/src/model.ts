export { createModelInterpreter, type ModelInterpreterOptions } from './lib/model-interpreter.ts'
