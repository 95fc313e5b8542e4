export { createRulesPool, type RulesPool, type RulesPoolOptions } from './lib/isolate-pool.ts'
