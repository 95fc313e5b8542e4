export { openSqliteStore } from './lib/sqlite/sqlite-store.ts'
