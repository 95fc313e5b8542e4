import { check } from '../../check.js'
import { compare, compute } from '../src/index.js'

check('every sign', () => compute('7 + 8 / 4 - 3 * 2 + 9 % 5 + 2 ^ 3'), 15)
check('division by zero', () => compute('1 / (2 - 2)'), 'error: division by zero')
check('rest of nothing', () => compute('1 % 0'), 'error: division by zero')
check('zero', () => compute('0 * 5'), 0)
check('unknown', () => compute('width * 2', { height: 2 }), 'error: unknown name: width')
check('equal', () => compare('0.1 + 0.2', '0.3'), 0)
check('smaller', () => compare('2', '3'), -1)
check('larger', () => compare('x', 'y', { x: 3, y: 2.5 }), 1)
