import { check } from '../../check.js'
import { table } from '../src/index.js'
import { wrap } from '../src/wrap.js'

check('fits exactly', () => wrap('ab cd', 5), ['ab cd'])
check('too wide', () => wrap('ab cd ef', 5), ['ab cd', 'ef'])
check('too wide by one', () => wrap('abc cd', 5), ['abc', 'cd'])
check('a long word', () => wrap('abcdefg h', 3), ['abc', 'def', 'g h'])
check('nothing', () => wrap('', 3), [''])
check('a column', () => table([['x'], ['one two three']], 7), ['x', '-------', 'one two', 'three'])
