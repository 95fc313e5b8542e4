export { describeSessionStore } from './lib/testing/session-store.contract.ts'
