export type { SessionStoreUnderTest } from './lib/session-store.abilities.ts'
export { describeSessionStore } from './lib/session-store.contract.ts'
