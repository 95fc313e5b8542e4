/** Words without a meaning of their own: weight 0. */
const FILLERS = new Set(
  `a about actually after again ah all alright also am an and any anyway are as at be been being but by can could did do does
  doing down each else er even ever few for from get give go going good great had has have he her here hey hi him his i if in
  into is it its just kindly know let like little ll lot may maybe me might more most much must my need now of off oh on one only
  or our out over perhaps please quite rather re really said say see shall she should so some something sorry still such sure
  take tell than thank thanks that the their them then there these they thing things think this those to too try um up us very
  want was we well were while will wish with would yet you your`.split(/\s+/),
)

/** Question words: weight ½. */
const QUESTIONS = new Set(['how', 'what', 'when', 'where', 'which', 'who', 'why'])

export const COMMON_WORDS: readonly string[] = [
  ...FILLERS,
  ...QUESTIONS,
  ...`because before behind below best better between big both call came change come cost day days done early easy end enough
  every everything fine form found free friend full half hand happy hard hear hello help high home hope hour hours house hurry
  idea important inside keep kind last late later leave left less light line list live long look looking made main make many
  matter mean mind minute moment money month months morning name near never new next nice night no none not nothing number old
  once open order other own part past pay people place plan play point price problem put question read ready reason rest right
  room same second seem service set short show side since small soon sort start stay stop table talk than their though thought
  three time times today together told took town train true turn two type under until use used useful usual visit wait walk
  watch water way week weeks went whether white whole wife without woman wonder word words work world worth write wrong year
  years yes yesterday young`.split(/\s+/),
]

export const FOLLOW_UPS: readonly (readonly string[])[] = [
  ['and', 'what', 'about'],
  ['and', 'how', 'about'],
  ['what', 'about'],
  ['how', 'about'],
  ['and'],
]

export function weightOf(word: string): number {
  if (FILLERS.has(word)) return 0
  return QUESTIONS.has(word) ? 0.5 : 1
}
