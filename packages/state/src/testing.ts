export type { SessionStoreUnderTest } from './lib/testing/session-store.abilities.ts'
export { describeSessionStore } from './lib/testing/session-store.contract.ts'
