export { describeSessionStore, type SessionStoreUnderTest } from './lib/session-store.contract.ts'
