export { createRulesPool, type RulesPool, type RulesPoolOptions } from './lib/workers/rules-pool.ts'
