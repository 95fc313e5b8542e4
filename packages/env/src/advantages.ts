/** Credits the steps of rollouts from the states that they share. It plays nothing. @module */
export { advantages } from './lib/credit/advantages.ts'
