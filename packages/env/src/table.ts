export { Table } from './lib/game/table.ts'
