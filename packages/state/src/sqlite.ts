export { openSqliteStore, type SqliteStoreOptions } from './lib/sqlite-store.ts'
