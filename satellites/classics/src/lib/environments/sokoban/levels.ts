/** The levels, easiest first: `#` wall, `.` goal, `$` box, `*` box on a goal, `@` player, `+` player on a goal. */
export const LEVELS = {
  shelf: ['#######', '#  .  #', '#     #', '# $ @ #', '#     #', '#######'],
  corner: ['######', '#    #', '# #@ #', '# $* #', '#  . #', '######'],
  pair: ['#######', '# .   #', '#  $  #', '# $@  #', '#   . #', '#######'],
  bend: ['#######', '#  #  #', '#..$  #', '## #$ #', '#  @  #', '#######'],
  gate: ['#########', '#   #   #', '# $   . #', '# $ # . #', '# @ #   #', '#########'],
  aisle: ['########', '#  ##  #', '# $  $ #', '#. ## .#', '#  @   #', '########'],
} as const

export const LEVEL_NAMES = ['shelf', 'corner', 'pair', 'bend', 'gate', 'aisle'] as const
export type LevelName = (typeof LEVEL_NAMES)[number]
