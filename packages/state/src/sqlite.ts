export { openSqliteStore, type SqliteStoreOptions } from './lib/sqlite/sqlite-store.ts'
