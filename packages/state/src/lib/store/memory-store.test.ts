import { describeSessionStore } from '../testing/session-store.contract.ts'
import { createMemoryStore } from './memory-store.ts'

describeSessionStore('memory', { open: createMemoryStore })
