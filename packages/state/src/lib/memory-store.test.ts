import { createMemoryStore } from './memory-store.ts'
import { describeSessionStore } from './session-store.contract.ts'

describeSessionStore('memory', { open: createMemoryStore })
